"""Waits for compactions that had read a session before its turns were deleted: they could still write a summary."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

from redis import Redis

from lithify.compaction import JOB, QUEUE
from lithify.errors import Unavailable
from lithify.forgetter.case import Case
from lithify.forgetting import Target
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import find
from lithify.jobs.record import open_queue

POLL_S: Final = 0.2
# Summaries of a long session take an abstractive model minutes.
PATIENCE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Compactions:
    """One that starts later finds nothing to summarise."""

    jobs: Redis
    patience_s: float = PATIENCE_S

    async def ended(self, case: Case) -> None:
        given_up = time.monotonic() + self.patience_s
        while await in_thread(self._running, case.target):
            if time.monotonic() > given_up:
                raise Unavailable("a compaction of what is to be forgotten is still running")
            await asyncio.sleep(POLL_S)

    def _running(self, target: Target) -> bool:
        started = open_queue(self.jobs, QUEUE).started_job_registry.get_job_ids(cleanup=False)
        jobs = [job for job_id in started if (job := find(self.jobs, job_id))]
        return any(
            job.call.name == JOB
            and job.call.args["tenant"] == target.tenant
            and target.user in (None, job.call.args["user"])
            for job in jobs
        )
