"""Back pressure: refuses turns while too much waits already; looks regularly, so that no request waits for it."""

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Final, NoReturn

import structlog
from redis.asyncio import Redis

from lithify.errors import Overloaded, Unavailable
from lithify.streams import Limits, Pressure, pressure, read_pressure
from lithify.telemetry.metrics import EVENTS_ACCEPTED

EVERY_S: Final = 1.0
# Counting a long backlog takes Redis's time; at most a tenth of it may go into looking.
LOOKING_SHARE: Final = 0.1

log = structlog.get_logger(__name__)


class BackPressure:
    """Accepts turns until `run()`, which the process keeps going, has seen that too much waits in the given streams.

    While it refuses, it also refuses what was accepted before: telling duplicates apart would cost the very thing to be
    saved, and the sender's next try is answered all the same.
    """

    def __init__(self, redis: Redis, required: Mapping[str, Collection[str]], limits: Limits) -> None:
        self._redis = redis
        self._required = required
        self._limits = limits
        self._pressure: Pressure | None = None

    def check(self) -> None:
        """Raises Overloaded, with the reason, while too much waits."""
        if self._pressure is not None:
            EVENTS_ACCEPTED.labels("refused").inc()
            raise Overloaded(self._pressure.reason, self._pressure.retry_after_s)

    async def run(self) -> NoReturn:
        while True:
            started = time.monotonic()
            await self.look()
            await asyncio.sleep(max(EVERY_S, (time.monotonic() - started) / LOOKING_SHARE))

    async def look(self) -> None:
        """Decides by what is seen now; accepts in an outage, for then accepting itself says what is wrong."""
        try:
            seen = pressure(await read_pressure(self._redis, self._required, self._limits), self._limits)
        except Unavailable as error:
            log.warning("pressure_unknown", error=str(error))
            seen = None
        if (seen is None) != (self._pressure is None):
            log.warning("ingest_refused" if seen else "ingest_resumed", reason=seen and seen.reason)
        self._pressure = seen
