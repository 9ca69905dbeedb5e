"""What a turn is worth by its words, where no model knows its language."""

import tomllib
from pathlib import Path

import pytest

from lithify.memory.gating.spoken_evidence import weigh_words
from lithify.memory.languages import detect_language, load_languages

FOLDER = Path(__file__).parent.parent / "languages"
BATCHES = [tomllib.loads((FOLDER / name).read_text("utf-8")) for name in ("turns.toml", "later_turns.toml")]
KEPT = 0.79  # from here on a turn is kept however known it seems
LEFT = 0.35  # up to here it is not, however new it seems


def worths(kind: str, code: str) -> list[float]:
    return [weigh_words(text, load_languages()[code]) for batch in BATCHES for text in batch[code][kind]]


@pytest.mark.parametrize("code", sorted(load_languages().keys() - {"en"}))
def test_most_facts_are_worth_keeping_and_hardly_any_chatter(code: str) -> None:
    assert sum(worth >= KEPT for worth in worths("facts", code)) >= 9
    assert sum(worth > LEFT for worth in worths("chatter", code)) <= 1


def test_a_fact_beside_chatter_counts() -> None:
    german = detect_language("Danke dir! Übrigens wohne ich jetzt in Bonn.")
    assert german is not None
    assert weigh_words("Danke dir! Übrigens wohne ich jetzt in Bonn.", german) >= KEPT
    assert weigh_words("Danke dir! Das war sehr nett.", german) <= LEFT


def test_a_question_is_worth_less_than_the_statement() -> None:
    german = load_languages()["de"]
    asked, stated = (weigh_words(f"Ich wohne in Bonn{mark}", german) for mark in "?.")
    assert asked <= LEFT < KEPT <= stated


def test_without_a_file_numbers_and_names_are_all_there_is() -> None:
    assert weigh_words("Με λένε Νίκο και μένω στην Αθήνα από το 2019.", None) > 0.5
    assert weigh_words("Καλημέρα!", None) <= LEFT


def test_a_blank_text_is_worth_nothing() -> None:
    assert weigh_words(" \n ", None) == 0.0


def test_hostile_text_is_read_in_no_time() -> None:
    for text in ("a" * 100_000, "ich " * 30_000, "ne " + " " * 100_000, "?" * 100_000):
        assert 0.0 <= weigh_words(text, load_languages()["fr"]) <= 1.0
