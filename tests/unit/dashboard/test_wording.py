"""Numbers on the pages are short, and what is not known is a dash."""

import pytest

from lithify.dashboard import wording


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (None, "–"),
        (0, "0.0 s"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (59_940, "59.9 s"),
        (60_000, "1.0 min"),
        (600_000, "10 min"),
        (3_600_000, "1.0 h"),
        (30 * 86_400_000, "30 d"),
    ],
)
def test_ages_keep_the_digits_that_matter(ms: int | None, words: str) -> None:
    assert wording.age(ms) == words


def test_rates_and_numbers() -> None:
    assert [wording.rate(value) for value in (None, 0.0, 12.34, 1234.5)] == ["–", "0.0/s", "12.3/s", "1,234/s"]
    assert [wording.number(value) for value in (None, 0, 1234567)] == ["–", "0", "1,234,567"]
    assert [wording.decimal(value) for value in (None, 0.12345)] == ["", "0.123"]


def test_a_moment_beyond_all_calendars_is_shown_and_no_error() -> None:
    assert wording.moment(0) == "1970-01-01 00:00:00"
    assert wording.moment(10**20) == f"{10**20} ms"
    assert wording.moment(None) == "–"


def test_every_state_has_a_shape_of_its_own() -> None:
    assert len(set(wording.MARKS.values())) == len(wording.MARKS)
