"""How long turns had to wait from being accepted to being searchable, for the heartbeat and the metrics."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from lithify.streams import Delivery
from lithify.telemetry.metrics import ACCEPT_TO_SEARCHABLE

# Enough for a stable 95th percentile, few enough that a recovered worker shows it within two batches.
REMEMBERED: Final = 512


class Lateness:
    """Counts what one consumer stored; the percentiles are those of its newest turns."""

    def __init__(self) -> None:
        self._stored = 0
        self._newest: deque[int] = deque(maxlen=REMEMBERED)

    def note(self, deliveries: Iterable[Delivery], now_ms: int) -> None:
        """Redis named each entry by the moment it was accepted; a dead letter sent again counts from then on."""
        for delivery in deliveries:
            waited_ms = max(0, now_ms - accepted_ms(delivery.stream_id))
            self._stored += 1
            self._newest.append(waited_ms)
            ACCEPT_TO_SEARCHABLE.observe(waited_ms / 1000)

    def outcomes(self) -> dict[str, int]:
        """Percentiles are told once there is something to tell."""
        told = {"stored": self._stored}
        if ordered := sorted(self._newest):
            told |= {"lateness_p50_ms": percentile(ordered, 50), "lateness_p95_ms": percentile(ordered, 95)}
        return told


def accepted_ms(stream_id: str) -> int:
    return int(stream_id.partition("-")[0])


def percentile(ordered: list[int], percent: int) -> int:
    """The nearest rank: a value that was measured, never one in between."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
