"""Queues periodic jobs: any number of schedulers may run, one is active, and no period is started twice."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import time
from typing import Final

import structlog
from pydantic import JsonValue
from redis import Redis
from rq.scripts import acquire_or_refresh_lock, release_lock

from lithify.errors import Invalid, Unavailable
from lithify.events import Clock
from lithify.jobs import keys
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import DAY_S, Policy, find, job_id, put
from lithify.jobs.record import open_queue

# How long after the end of the active scheduler another one may take over.
LEASE_S: Final = 30
TICK_S: Final = LEASE_S / 4
DAY_MS: Final = DAY_S * 1000
# Nothing depends on the last period being remembered for longer: without it the present one is due.
YEAR_MS: Final = 365 * DAY_MS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule is one line of the table. Periods lie on a fixed grid, so that every process sees the same ones."""

    label: str
    queue: str
    job: str
    every_ms: int
    # Where in the grid a period starts, counted from midnight UTC.
    offset_ms: int = 0
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        if self.every_ms <= 0:
            raise Invalid(f"schedule {self.label} must have an interval above 0, not {self.every_ms} ms")


class Scheduler:
    """Starts what is due while it holds the lock. Use `run()` once; `stop()` from anywhere in the same loop."""

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
                self.active = False
                self.outage = str(error)
                log.warning("scheduler_waits_out_outage", error=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._stopping.wait()
        with suppress(Unavailable):
            await in_thread(release_lock, self._connection, keys.SCHEDULER, self._token)

    async def tick(self) -> list[str]:
        """Queues what is due, if this is the active scheduler, and returns the ids of the jobs."""
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
        period = due_period(schedule, last_ms, self._clock())
        if period is None or self._is_unfinished(schedule, last_ms):
            return None
        queue = open_queue(self._connection, schedule.queue)
        unique_id = _unique_id(schedule, period)
        # The lock does not decide, a scheduler may wake up long after it lost it. The period's record does: it is kept
        # for longer than the period, and while it is there, in whatever state, there is no second one.
        ticket = put(
            queue, schedule.job, schedule.args, unique_id=unique_id, policy=_lasting_policy(schedule), rerun=False
        )
        self._connection.set(key, period, px=2 * schedule.every_ms + YEAR_MS)
        log.info("periodic_job_started", label=schedule.label, job_id=ticket.job_id, is_new=ticket.is_new)
        return ticket.job_id if ticket.is_new else None

    def _is_unfinished(self, schedule: Schedule, last_ms: int | None) -> bool:
        """Says whether the last run holds this one back: runs must neither pile up nor overtake each other."""
        if last_ms is None:
            return False
        last = find(self._connection, job_id(schedule.job, _unique_id(schedule, last_ms)))
        return last is not None and not last.has_ended


def daily(label: str, queue: str, job: str, at: time, args: Mapping[str, JsonValue] | None = None) -> Schedule:
    """Makes a schedule that runs once a day at a time of UTC."""
    offset_ms = ((at.hour * 60 + at.minute) * 60 + at.second) * 1000
    return Schedule(label=label, queue=queue, job=job, every_ms=DAY_MS, offset_ms=offset_ms, args=args or {})


def due_period(schedule: Schedule, last_run_ms: int | None, now_ms: int) -> int | None:
    """Returns the start of the period to run for, None if it had its run. Of missed ones only the present one runs.

    A last run slightly in the future was started by a process whose clock is ahead, and counts. One that is more than
    a period ahead tells of a clock that was wrong; waiting for it could take years, so it does not count.
    """
    period = now_ms - (now_ms - schedule.offset_ms) % schedule.every_ms
    if last_run_ms is None or last_run_ms < period or last_run_ms > now_ms + schedule.every_ms:
        return period
    return None


def _unique_id(schedule: Schedule, period: int) -> str:
    return f"{schedule.label}@{period}"


def _lasting_policy(schedule: Schedule) -> Policy:
    """Keeps the record of a period's job for longer than the period, so that a second start finds it."""
    two_periods_s = 2 * schedule.every_ms // 1000 + DAY_S
    return replace(
        schedule.policy,
        result_ttl_s=max(schedule.policy.result_ttl_s, two_periods_s),
        failure_ttl_s=max(schedule.policy.failure_ttl_s, two_periods_s),
    )
