"""Every quoted line says when it was said, and by whom."""

import pytest

from lithify.memory.prompt.mark import (
    entry_role,
    format_day,
    format_span,
    mark_recalled,
    mark_spoken,
    mark_summary,
    spoken_role,
)

DAY = 86_400_000.0
MAY_FIRST = 1_777_593_600_000.0  # 2026-05-01 00:00 UTC


def test_a_memory_says_its_day_and_a_turn_of_the_tail_its_minute() -> None:
    assert mark_recalled("user", MAY_FIRST) == "2026-05-01 user"
    assert mark_recalled("user", MAY_FIRST, outdated=True) == "2026-05-01 user, outdated"
    assert mark_spoken("assistant", MAY_FIRST + 34_860_000) == "2026-05-01 09:41 assistant"


@pytest.mark.parametrize(
    ("since", "until", "span"),
    [
        (MAY_FIRST, MAY_FIRST + 6 * DAY, "2026-05-01..07"),
        (MAY_FIRST, MAY_FIRST + 32 * DAY, "2026-05-01..06-02"),
        (MAY_FIRST - 122 * DAY, MAY_FIRST, "2025-12-30..2026-05-01"),
        (MAY_FIRST, MAY_FIRST + 1, "2026-05-01"),
        (None, MAY_FIRST, "2026-05-01"),
        (MAY_FIRST + DAY, MAY_FIRST, "2026-05-01"),
        (None, None, ""),
    ],
)
def test_a_span_is_told_as_short_as_it_can_be(since: float | None, until: float | None, span: str) -> None:
    assert format_span(since, until) == span


def test_a_summary_is_told_from_a_quote() -> None:
    assert mark_summary(MAY_FIRST, MAY_FIRST + DAY) == "2026-05-01..02 summary"


@pytest.mark.parametrize("ts", [None, 1e30, -1e30, float("inf")])
def test_a_time_that_no_calendar_holds_is_left_out(ts: float | None) -> None:
    assert format_day(ts) == ""
    assert mark_recalled("user", ts) == mark_spoken("user", ts) == "user"


def test_no_record_speaks_as_the_system() -> None:
    roles = ("user", "assistant", "system", "tool", None)
    assert [entry_role(role) for role in roles] == ["user", "assistant", "unknown", "unknown", "unknown"]
    assert [spoken_role(role) for role in roles] == ["user", "assistant", "unknown", "tool", "unknown"]
    assert entry_role(None, durable=True) == "user"
    assert entry_role("system", durable=True) == "unknown"
