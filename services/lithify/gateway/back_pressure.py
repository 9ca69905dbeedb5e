"""Back pressure: refuses turns while too much waits already; looks regularly, so that no request waits for it."""

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Final, NoReturn

import structlog
from redis.asyncio import Redis

from lithify.errors import Overloaded, Unavailable
from lithify.streams import Limits, Pressure, Readings, keys, pressure, read_pressure
from lithify.telemetry.metrics import EVENTS_ACCEPTED

EVERY_S: Final = 1.0
# Counting a long backlog takes Redis's time, of which at most a tenth may go into it.
COUNTING_SHARE: Final = 0.1
# By the clock a stall looks like long counting; whatever the reason, a figure older than this is not relied on.
LONGEST_S: Final = 5.0
# Bulk closes at this part of the memory mark, so that a flood leaves room for the turns of others.
BULK_MEMORY: Final = 0.8

log = structlog.get_logger(__name__)


class LaneGauge:
    """Says whether too much waits in some streams, by its latest look at them."""

    def __init__(self, redis: Redis, required: Mapping[str, Collection[str]], limits: Limits, name: str) -> None:
        self._redis = redis
        self._required = required
        self._limits = limits
        self._name = name
        self._counted = 0
        self._count_at = 0.0
        self.pressure: Pressure | None = None

    async def look(self) -> None:
        """Decides by what is seen now; accepts in an outage, for then accepting itself says what is wrong."""
        try:
            seen = pressure(await self._read(), self._limits)
        except Unavailable as error:
            log.warning("pressure_unknown", error=str(error))
            seen = None
        if (seen is None) != (self.pressure is None):
            log.warning("ingest_refused" if seen else "ingest_resumed", lane=self._name, reason=seen and seen.reason)
        self.pressure = seen

    async def _read(self) -> Readings:
        started = time.monotonic()
        counted = self._counted if started < self._count_at else None
        readings = await read_pressure(self._redis, self._required, self._limits, counted)
        if readings.is_counted:
            ended = time.monotonic()
            self._counted = readings.unread
            self._count_at = ended + counting_pause_s(ended - started)
        return readings


class BackPressure:
    """Accepts turns until `run()`, which the process keeps going, has seen that too much waits in the given streams.

    What waits in bulk is of tenants that send more than others: it closes bulk, and leaves the others be. While turns
    are refused, so are those accepted before: telling duplicates apart would cost the very thing to be saved, and the
    sender's next try is answered all the same.
    """

    def __init__(self, redis: Redis, required: Mapping[str, Collection[str]], limits: Limits) -> None:
        bulk = {stream: groups for stream, groups in required.items() if keys.is_bulk(stream)}
        others = {stream: groups for stream, groups in required.items() if stream not in bulk}
        sooner = replace(limits, memory_share=limits.memory_share * BULK_MEMORY)
        self._turns = LaneGauge(redis, others, limits, "turns")
        self._bulk = LaneGauge(redis, bulk, sooner, "bulk") if bulk else None

    def check(self) -> None:
        """Raises Overloaded, with the reason, while too much waits of all tenants together."""
        if found := self._turns.pressure:
            EVENTS_ACCEPTED.labels("refused").inc()
            raise Overloaded(found.reason, found.retry_after_s)

    def is_bulk_open(self) -> bool:
        """Tells whether more may be accepted of tenants that have many turns waiting already."""
        return self._bulk is None or self._bulk.pressure is None

    async def run(self) -> NoReturn:
        """Looks once a second, however long the last look took: what stalls the process must not blind it as well."""
        while True:
            await self.look()
            await asyncio.sleep(EVERY_S)

    async def look(self) -> None:
        """Looks at both lanes."""
        await self._turns.look()
        if self._bulk is not None:
            await self._bulk.look()


def counting_pause_s(took_s: float) -> float:
    """Returns how long a count that took some time is relied on."""
    return min(took_s / COUNTING_SHARE, LONGEST_S)
