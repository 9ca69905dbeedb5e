"""The fairness benchmark measures the time between two marks of the same receipt, and its flood can be ended."""

from types import SimpleNamespace
from typing import Any, cast

from lithify.cli.bench.fairness import BATCH, flood_node, send_quietly
from lithify.client import Memory
from lithify.errors import Overloaded


class FakeService:
    """Makes the nth turn searchable after n milliseconds; refuses the first batch once, as a busy node does."""

    def __init__(self) -> None:
        self.waits: dict[str, int] = {}
        self.batches: list[list[Any]] = []
        self.refused = 0

    def ingest(self, *, event_id: str, **_: Any) -> None:
        self.waits[event_id] = len(self.waits) + 1

    def receipt(self, event_id: str) -> SimpleNamespace:
        return SimpleNamespace(accepted_at=1_000, embedded_at=1_000 + self.waits[event_id])

    def ingest_batch(self, turns: list[Any]) -> None:
        if not self.refused:
            self.refused += 1
            raise Overloaded
        self.batches.append(turns)


def test_the_time_of_a_turn_is_from_accepted_to_searchable() -> None:
    service = FakeService()
    waited = send_quietly(cast("Memory", service), "alone", 21, pause_s=0)
    assert (waited.p50, waited.p95) == (11, 20.9)


def test_a_flood_is_sent_again_when_refused_and_ends_when_told() -> None:
    service = FakeService()
    flood_node(cast("Memory", service), 3 * BATCH, lambda: len(service.batches) == 2)
    assert [len(batch) for batch in service.batches] == [BATCH, BATCH]
    assert service.refused == 1
