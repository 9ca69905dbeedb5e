"""A stage's state is told by the age of its oldest message, over all partitions."""

import pytest

from lithify.monitoring.overview import BEHIND_MS, STUCK_MS, SearchableDelay, StageState, delay_of, stages_of, state_of
from tests.unit.monitoring.figures_parts import group, heartbeat, stream


@pytest.mark.parametrize(
    ("waiting", "oldest_ms", "expected"),
    [
        (0, 0, StageState.CLEAR),
        (0, STUCK_MS, StageState.CLEAR),
        (1, 0, StageState.WORKING),
        (10_000, BEHIND_MS - 1, StageState.WORKING),
        (1, BEHIND_MS, StageState.BEHIND),
        (1, STUCK_MS, StageState.STUCK),
    ],
)
def test_age_decides_and_not_the_number(waiting: int, oldest_ms: int, expected: StageState) -> None:
    assert state_of(waiting, oldest_ms) == expected


def test_partitions_add_up_and_the_oldest_of_them_counts() -> None:
    one = stream(group(unread=3, oldest_ms=10), partition=0)
    other = stream(group(pending=2, oldest_ms=40_000), group("archive"), partition=1)
    embed, archive = stages_of([other, one])
    assert (embed.group, archive.group) == ("embed", "archive")
    assert (embed.unread, embed.pending, embed.oldest_unread_ms, embed.oldest_pending_ms) == (3, 2, 10, 40_000)
    assert (embed.state, archive.state) == (StageState.BEHIND, StageState.CLEAR)


def test_stages_come_in_the_order_of_the_pipeline_and_unknown_ones_last() -> None:
    found = stages_of([stream(group("zoo"), group("gate"), group("archive"), group("embed"))])
    assert [stage.group for stage in found] == ["embed", "archive", "gate", "zoo"]


def test_lateness_is_that_of_the_slowest_embedding_worker() -> None:
    workers = [
        heartbeat("a", lateness_p50_ms=10, lateness_p95_ms=90),
        heartbeat("b", lateness_p50_ms=30, lateness_p95_ms=40),
        heartbeat("c", kind="gate", lateness_p50_ms=999, lateness_p95_ms=999),
    ]
    assert delay_of(workers) == SearchableDelay(30, 90)
    assert delay_of([heartbeat()]) == SearchableDelay(None, None)
