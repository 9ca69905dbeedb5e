"""Accepting stops above each high-water mark, and says which."""

import pytest

from lithify.streams import Limits, Readings, pressure

LIMITS = Limits(oldest_unread_s=60, unread=100, memory_share=0.8, retry_after_s=7)


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        (Readings(oldest_unread_ms=60_001), "waits for 60 s"),
        (Readings(unread=101), "more than 100 events"),
        (Readings(memory_share=0.81), "81% of its memory"),
    ],
    ids=["age", "unread", "memory"],
)
def test_above_a_mark_nothing_more_is_accepted_and_the_reason_is_told(readings: Readings, words: str) -> None:
    found = pressure(readings, LIMITS)
    assert found is not None
    assert words in found.reason
    assert found.retry_after_s == 7


@pytest.mark.parametrize(
    "readings", [Readings(), Readings(oldest_unread_ms=60_000, unread=100, memory_share=0.8)], ids=["idle", "full"]
)
def test_up_to_the_marks_everything_is_accepted(readings: Readings) -> None:
    assert pressure(readings, LIMITS) is None


def test_without_a_memory_limit_of_redis_there_is_no_share_to_judge() -> None:
    assert pressure(Readings(memory_share=None), Limits(memory_share=0.0)) is None
