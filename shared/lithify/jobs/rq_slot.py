"""Keeps RQ's records for one slot of a runner: which job it has, that it is alive, and how the job ended."""

import os
import socket
import traceback
import uuid
from typing import Self

from rq import Queue
from rq.executions import Execution
from rq.job import Job
from rq.utils import now
from rq.worker import BaseWorker

from lithify.errors import Invalid, Unavailable
from lithify.jobs import keys
from lithify.jobs.enqueue import find
from lithify.jobs.record import NamedJob

# Only sets how long RQ shows the slot as a worker after its last sign of life: 60 s longer than this.
WORKER_TTL_S = 15


class RqSlot(BaseWorker):
    """An RQ worker as far as records go, so that RQ's tools show it; it has no loop, no signal handlers and no fork.

    All methods block.
    """

    def __init__(self, queue: Queue, lease_s: int) -> None:
        super().__init__(
            [queue],
            name=f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}",
            connection=queue.connection,
            queue_class=type(queue),
            job_class=NamedJob,
            serializer=queue.serializer,
            worker_ttl=WORKER_TTL_S,
            log_job_description=False,
        )
        self.queue = queue
        self._lease_s = lease_s

    @classmethod
    def open(cls, queue: Queue, lease_s: int) -> Self:
        slot = cls(queue, lease_s)
        slot.register_birth()  # type: ignore[no-untyped-call]  # RQ types it not
        return slot

    def pop(self, block_s: float) -> NamedJob | None:
        """Takes the next job off the queue, waiting up to block_s; until begun it is on RQ's list of popped ones."""
        self.heartbeat()
        popped = self.queue.intermediate_queue_key
        job_id = self.connection.blmove(self.queue.key, popped, block_s)  # type: ignore[arg-type]  # fractions are fine
        return find(self.connection, job_id.decode()) if isinstance(job_id, bytes) else None

    def begin(self, job: NamedJob) -> None:
        """Starts the lease of the job: when it runs out, the job goes to someone else."""
        popped = self.queue.intermediate_queue
        with self.connection.pipeline() as pipe:
            self.execution = Execution.create(job, self._lease_s, pipe, worker_name=self.name)
            job.prepare_for_execution(self.name, pipe)
            self.set_current_job_id(job.id, pipe)
            pipe.persist(job.key)
            pipe.lrem(popped.key, 1, job.id)
            pipe.delete(popped.get_first_seen_key(job.id))
            pipe.execute()

    def renew(self, job: NamedJob) -> None:
        execution = self.execution
        if execution is None:
            return
        with self.connection.pipeline() as pipe:
            self.heartbeat(pipeline=pipe)
            execution.heartbeat(job.started_job_registry, self._lease_s, pipe)
            pipe.execute()

    def succeed(self, job: NamedJob, result: object) -> None:
        # Before the record says so: a checkpoint left behind by a finished job would let the next one skip work.
        self.connection.delete(keys.checkpoint(job.id))
        job.conclude(result)
        job.ended_at = now()
        self.handle_job_success(job, self.queue, job.started_job_registry)

    def fail(self, job: NamedJob, error: Exception, retries_left: int) -> None:
        """Queues the job again after its next pause, or gives it up: Invalid, out of retries or out of patience."""
        job.retries_left = retries_left
        job.ended_at = now()
        job.note_failure(job.ended_at.timestamp(), is_outage=isinstance(error, Unavailable))
        job.hopeless = job.hopeless or isinstance(error, Invalid)
        self.handle_job_failure(job, self.queue, exc_string="".join(traceback.format_exception(error)))

    def get_heartbeat_ttl(self, job: Job) -> int:  # noqa: ARG002 - RQ's signature
        return self._lease_s
