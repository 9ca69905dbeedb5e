"""Queues periodic jobs: any number of schedulers may run, one is active, and no period is started twice."""

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import structlog
from redis import Redis
from rq.scripts import acquire_or_refresh_lock, release_lock

from lithify.errors import Unavailable
from lithify.events import Clock
from lithify.jobs import keys
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import DAY_S, Policy, find, job_id, put
from lithify.jobs.record import open_queue
from lithify.jobs.schedule import Schedule, due

# How long after the end of the active scheduler another one may take over.
LEASE_S: Final = 30
TICK_S: Final = LEASE_S / 4
# Nothing depends on the last period being remembered for longer: without it the present one is due.
YEAR_MS: Final = 365 * DAY_S * 1000

log = structlog.get_logger(__name__)


class Scheduler:
    """Use `run()` once; `stop()` from anywhere in the same loop."""

    def __init__(self, connection: Redis, schedules: Sequence[Schedule], clock: Clock) -> None:
        self._connection = connection
        self._schedules = schedules
        self._clock = clock
        self._token = uuid.uuid4().hex
        self._stopping = asyncio.Event()
        self.active = False
        self.outage: str | None = None
        self.ticked_at = clock()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        while not self._stopping.is_set():
            try:
                await self.tick()
                self.outage = None
            except Unavailable as error:
                self.active, self.outage = False, str(error)
                log.warning("scheduler_waits_out_outage", error=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._stopping.wait()
        with suppress(Unavailable):
            await in_thread(release_lock, self._connection, keys.SCHEDULER, self._token)

    async def tick(self) -> list[str]:
        """Queue what is due, if this is the active scheduler, and return the ids of the jobs."""
        self.ticked_at = self._clock()
        return await in_thread(self._tick)

    def _tick(self) -> list[str]:
        lock = acquire_or_refresh_lock(self._connection, keys.SCHEDULER, self._token, LEASE_S)
        self.active = lock != "taken"
        if not self.active:
            return []
        return [started for schedule in self._schedules if (started := self._start(schedule))]

    def _start(self, schedule: Schedule) -> str | None:
        key = keys.last_period(schedule.label)
        last = self._connection.get(key)
        last_ms = int(last) if isinstance(last, bytes) else None
        period = due(schedule, last_ms, self._clock())
        if period is None or self._is_unfinished(schedule, last_ms):
            return None
        queue = open_queue(self._connection, schedule.queue)
        unique_id = _unique_id(schedule, period)
        # The lock does not decide, a scheduler may wake up long after it lost it. The period's record does: it is kept
        # for longer than the period, and while it is there, in whatever state, there is no second one.
        ticket = put(queue, schedule.job, schedule.args, unique_id, _kept(schedule), rerun=False)
        self._connection.set(key, period, px=2 * schedule.every_ms + YEAR_MS)
        log.info("periodic_job_started", label=schedule.label, job_id=ticket.job_id, is_new=ticket.is_new)
        return ticket.job_id if ticket.is_new else None

    def _is_unfinished(self, schedule: Schedule, last_ms: int | None) -> bool:
        """Runs must neither pile up while no runner is there nor overtake each other; the present period waits."""
        if last_ms is None:
            return False
        last = find(self._connection, job_id(schedule.job, _unique_id(schedule, last_ms)))
        return last is not None and not last.has_ended


def _unique_id(schedule: Schedule, period: int) -> str:
    return f"{schedule.label}@{period}"


def _kept(schedule: Schedule) -> Policy:
    two_periods_s = 2 * schedule.every_ms // 1000 + DAY_S
    return replace(
        schedule.policy,
        result_ttl_s=max(schedule.policy.result_ttl_s, two_periods_s),
        failure_ttl_s=max(schedule.policy.failure_ttl_s, two_periods_s),
    )
