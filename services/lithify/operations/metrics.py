"""What `/metrics` answers: what this process counted and, where asked for, how full the queues of the system are."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import structlog
from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from lithify.errors import Unavailable
from lithify.http.authorization import Access
from lithify.jobs.overview import QueueState
from lithify.monitoring.figures import PipelineReader
from lithify.streams import Lag, keys
from lithify.telemetry import metrics
from lithify.telemetry.metrics import REGISTRY, Readings, exposition

# Half of the time a scraper waits by default, so that the other figures reach it even so.
PATIENCE_S: Final = 5.0
STATUSES: Final = ("queued", "started", "scheduled", "deferred", "failed")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SystemLevels:
    """Reads the levels of the whole system; for one or few processes, since all of them would say the same."""

    reader: PipelineReader
    patience_s: float = PATIENCE_S

    async def read(self) -> Readings:
        """Never raises because of Redis, and takes no longer than it may: then the readings say that it is away."""
        try:
            async with asyncio.timeout(self.patience_s):
                return await self._read()
        except (Unavailable, TimeoutError) as error:
            log.warning("levels_unknown", error=str(error) or "Redis took too long")
            return {metrics.REDIS_UP: {(): 0}}

    async def _read(self) -> Readings:
        lags = await self.reader.lags()
        dead = await self.reader.dead_letters()
        queues = await self.reader.queues()
        return {
            metrics.REDIS_UP: {(): 1},
            **lag_readings(lags),
            metrics.DEAD_LETTERS: {(): dead.count},
            **job_readings(queues),
        }


def metrics_router(system: SystemLevels | None, access: Access) -> APIRouter:
    """Answers the operator only: the figures are those of all tenants together."""
    router = APIRouter(tags=["operations"], dependencies=[Depends(access.needs_operator())])

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """The metrics of this process in Prometheus's text format."""
        return Response(await scrape(system), media_type=CONTENT_TYPE_LATEST)

    return router


async def scrape(system: SystemLevels | None) -> bytes:
    """Returns what this process counted and, with `system`, the levels of all of them."""
    seen = b"" if system is None else exposition(await system.read())
    return generate_latest(REGISTRY) + seen


def lag_readings(lags: Iterable[Lag]) -> Readings:
    """Joins the partitions of a stream: counts are added up, ages are those of the oldest."""
    unread: defaultdict[tuple[str, ...], float] = defaultdict(float)
    pending: defaultdict[tuple[str, ...], float] = defaultdict(float)
    unread_s: defaultdict[tuple[str, ...], float] = defaultdict(float)
    pending_s: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for lag in lags:
        place = (keys.kind_of(lag.stream), lag.group)
        unread[place] += lag.unread
        pending[place] += lag.pending
        unread_s[place] = max(unread_s[place], lag.oldest_unread_ms / 1000)
        pending_s[place] = max(pending_s[place], lag.oldest_pending_ms / 1000)
    return {
        metrics.STREAM_UNREAD: unread,
        metrics.STREAM_PENDING: pending,
        metrics.OLDEST_UNREAD: unread_s,
        metrics.OLDEST_PENDING: pending_s,
    }


def job_readings(queues: Iterable[QueueState]) -> Readings:
    return {metrics.JOBS: {(queue.queue, status): getattr(queue, status) for queue in queues for status in STATUSES}}
