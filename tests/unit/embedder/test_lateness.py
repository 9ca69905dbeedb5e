"""What an embedding worker tells about how late it is."""

from lithify.embedder.worker import REMEMBERED, LatenessMeter, percentile
from lithify.events import Event
from lithify.streams import Delivery
from lithify.streams.delivery import StreamEntry

EVENT = Event("e1", "t", "u", "s", "user", "hello", 1)


def accepted_at(*moments_ms: int) -> list[Delivery]:
    return [Delivery(StreamEntry("lithify:turns:{0}", f"{ms}-0", {}, 1), EVENT) for ms in moments_ms]


def test_before_the_first_turn_only_the_count_is_told() -> None:
    assert LatenessMeter().outcomes() == {"stored": 0}


def test_lateness_counts_from_the_acceptance() -> None:
    lateness = LatenessMeter()
    lateness.note(accepted_at(*range(900, 1000)), 1000)
    assert lateness.outcomes() == {"stored": 100, "lateness_p50_ms": 50, "lateness_p95_ms": 95}


def test_old_turns_are_forgotten_and_still_counted() -> None:
    lateness = LatenessMeter()
    lateness.note(accepted_at(0), 3_600_000)
    lateness.note(accepted_at(*[990] * REMEMBERED), 1000)
    assert lateness.outcomes() == {"stored": REMEMBERED + 1, "lateness_p50_ms": 10, "lateness_p95_ms": 10}


def test_a_clock_behind_that_of_redis_makes_no_negative_wait() -> None:
    lateness = LatenessMeter()
    lateness.note(accepted_at(2000), 1000)
    assert lateness.outcomes()["lateness_p95_ms"] == 0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert [percentile([1, 5, 9], percent) for percent in (1, 50, 95)] == [1, 5, 9]
