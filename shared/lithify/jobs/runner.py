"""Runs the jobs of one queue inside the asyncio loop of its process: in the node, and in a process of its own."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import structlog
from redis import Redis

from lithify.errors import LithifyError, Misconfigured, Unavailable
from lithify.events import Clock
from lithify.jobs.connection import BLOCK_S
from lithify.jobs.context import JobContext, Registry, perform
from lithify.jobs.enqueue import Policy
from lithify.jobs.record import NamedJob, open_queue
from lithify.jobs.rq_slot import RqSlot
from lithify.jobs.upkeep import keep_up
from lithify.streams.crash import crash_point
from lithify.streams.outage import backoff_ms, outages
from lithify.telemetry.metrics import JOB_DURATION
from lithify.telemetry.trace_context import trace_id_of

# One lost renewal must not hand a running job to someone else.
RENEWALS_PER_LEASE: Final = 4

T = TypeVar("T")

log = structlog.get_logger(__name__)


class BrokenOff(LithifyError):
    """The job was cancelled or took longer than its timeout."""


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    # Jobs at a time.
    slots: int = 1
    # Also the longest wait between stop() and a slot seeing it, and the precision of pauses between attempts.
    block_s: float = 1
    # How long after its last sign of life a killed process's jobs are given to others. RQ counts whole seconds, so it
    # may be one less.
    lease_s: int = 60
    upkeep_s: int = 60

    def __post_init__(self) -> None:
        if self.slots < 1 or self.lease_s < 2 or self.upkeep_s < 1 or not 0 < self.block_s <= BLOCK_S:
            raise Misconfigured(
                f"a job runner needs 1 slot, a lease of 2 s and upkeep every 1 s at least, and may block {BLOCK_S} s"
            )


class JobRunner:
    """Takes the jobs of one queue and runs them. Use `run()` once; `stop()` from anywhere in the same loop.

    One queue, because Redis cannot wait for several lists and keep what it hands out on a list of popped jobs.
    """

    def __init__(
        self,
        connection: Redis,
        queue: str,
        registry: Registry,
        executor: Executor,
        settings: RunnerSettings,
        clock: Clock,
    ) -> None:
        self._queue = open_queue(connection, queue)
        self._registry = registry
        self._executor = executor
        self._settings = settings
        self._clock = clock
        # Each slot waits for its next job in one thread or keeps its books there, and renews its lease in another.
        self._threads = ThreadPoolExecutor(2 * settings.slots, thread_name_prefix=f"jobs-{queue}")
        self._stopping = asyncio.Event()
        self._running = False
        self.outage: str | None = None
        self.ticked_at = clock()

    @property
    def ready(self) -> bool:
        return self._running and self.outage is None and not self._stopping.is_set()

    def stop(self) -> None:
        """Takes no more jobs; `run()` returns once those begun have ended."""
        self._stopping.set()

    async def run(self) -> None:
        """Runs jobs until stopped. Cancelling ends it at once; what was begun is tried again after its lease."""
        self._running = True
        try:
            async with asyncio.TaskGroup() as slots:
                for number in range(self._settings.slots):
                    slots.create_task(self._serve(), name=f"jobs-{self._queue.name}-{number}")
        finally:
            self._running = False
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _serve(self) -> None:
        try:
            slot = await self._insist(partial(RqSlot.open, self._queue, self._settings.lease_s))
            while not self._stopping.is_set():
                await self._turn(slot)
            await self._insist(slot.register_death)
        except Unavailable as error:
            log.warning("runner_stopped_during_outage", queue=self._queue.name, error=str(error))

    async def _turn(self, slot: RqSlot) -> None:
        self.ticked_at = self._clock()
        try:
            await self._insist(partial(keep_up, self._queue, self._settings.upkeep_s))
            job = await self._insist(partial(slot.pop, self._settings.block_s))
            if job is not None:
                crash_point("after_pop")
                await self._process(slot, job)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a record nobody can read must not end the runner
            log.error("job_record_unusable", queue=self._queue.name, error=type(error).__name__)
            await self._pause(0)

    async def _process(self, slot: RqSlot, job: NamedJob) -> None:
        await self._insist(partial(slot.begin, job))
        crash_point("before_job")
        async with self._keep_lease(slot, job):
            record_end = await self._run(slot, job)
            crash_point("after_job")
            await self._insist(record_end)

    async def _run(self, slot: RqSlot, job: NamedJob) -> Callable[[], None]:
        """Runs the job and returns how its end is to be recorded."""
        fields = {"job_id": job.id, "attempt": job.attempt, "outages": job.outages} | trace_field(job)
        started = time.perf_counter()
        try:
            result = await self._call(job)
        except Exception as error:  # noqa: BLE001 - whatever a job raises decides its own fate only
            self._measure(job, "failed", started)
            # The type only: an error's words may quote what a user said.
            log.warning("job_failed", **fields, error=type(error).__name__)
            return partial(slot.fail, job, error, job.retries_left or 0)
        self._measure(job, "done", started)
        log.info("job_done", **fields)
        return partial(slot.succeed, job, result)

    def _measure(self, job: NamedJob, outcome: str, started: float) -> None:
        # Whoever writes to Redis names jobs; only names of ours may become a label.
        name = job.id.rpartition("-")[0]
        job_name = name if name in self._registry else "unknown"
        JOB_DURATION.labels(self._queue.name, job_name, outcome).observe(time.perf_counter() - started)

    async def _call(self, job: NamedJob) -> object:
        call = job.call
        context = JobContext(
            job_id=job.id,
            name=call.name,
            attempt=job.attempt,
            parts=None,
            executor=self._executor,
            connection=self._queue.connection,
            ending=self._stopping.is_set,
        )
        limit_s = job.timeout if job.timeout and job.timeout > 0 else Policy().timeout_s
        try:
            async with asyncio.timeout(limit_s) as limit:
                return await perform(self._registry, context, call.args)
        except TimeoutError as error:
            if limit.expired():
                raise BrokenOff(f"job {call.name} took longer than {limit_s} s") from error
            raise
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            # Something the job waited for was cancelled. Let through, it would quietly end this slot.
            raise BrokenOff(f"job {call.name} was cancelled from inside") from error

    @asynccontextmanager
    async def _keep_lease(self, slot: RqSlot, job: NamedJob) -> AsyncIterator[None]:
        renewal = asyncio.create_task(self._keep_renewing(slot, job), name=f"lease-{job.id}")
        try:
            yield
        finally:
            renewal.cancel()
            await asyncio.wait([renewal])

    async def _keep_renewing(self, slot: RqSlot, job: NamedJob) -> None:
        while True:
            await asyncio.sleep(self._settings.lease_s / RENEWALS_PER_LEASE)
            self.ticked_at = self._clock()
            try:
                await self._in_thread(partial(slot.renew, job))
            except Unavailable as error:
                log.warning("job_lease_not_renewed", job_id=job.id, error=str(error))

    async def _insist(self, step: Callable[[], T]) -> T:
        """Repeats a step of book-keeping through an outage of Redis. Raises Unavailable only after `stop()`."""
        failures = 0
        while True:
            try:
                result = await self._in_thread(step)
            except Unavailable as error:
                self.outage = str(error)
                if self._stopping.is_set():
                    raise
                log.warning("jobs_wait_out_outage", queue=self._queue.name, error=str(error))
                await self._pause(failures)
                failures += 1
            else:
                self.outage = None
                return result

    async def _in_thread(self, step: Callable[[], T]) -> T:
        with outages():
            return await asyncio.get_running_loop().run_in_executor(self._threads, step)

    async def _pause(self, failures: int) -> None:
        self.ticked_at = self._clock()
        with suppress(TimeoutError):
            async with asyncio.timeout(backoff_ms(failures) / 1000):
                await self._stopping.wait()


def trace_field(job: NamedJob) -> dict[str, str]:
    """Returns the log field with the trace of the turn that caused the job, none where its host sent none."""
    trace_id = trace_id_of(job.traceparent)
    return {} if trace_id is None else {"trace_id": trace_id}


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
