"""Named background jobs on RQ: queued once per id, retried, resumable, and run without fork, pickle or signals."""

from lithify.jobs.connection import open_connection
from lithify.jobs.context import JobContext, JobFunction, Registry, bind_parts
from lithify.jobs.enqueue import Policy, Ticket, enqueue, job_id
from lithify.jobs.overview import (
    STATUSES,
    JobDetail,
    JobSummary,
    QueueState,
    list_jobs,
    read_queues,
    retry_failed,
    show_job,
)
from lithify.jobs.record import open_queue
from lithify.jobs.runner import JobRunner, RunnerSettings
from lithify.jobs.scheduler import Schedule, Scheduler, daily, due_period

__all__ = [
    "STATUSES",
    "JobContext",
    "JobDetail",
    "JobFunction",
    "JobRunner",
    "JobSummary",
    "Policy",
    "QueueState",
    "Registry",
    "RunnerSettings",
    "Schedule",
    "Scheduler",
    "Ticket",
    "bind_parts",
    "daily",
    "due_period",
    "enqueue",
    "job_id",
    "list_jobs",
    "open_connection",
    "open_queue",
    "read_queues",
    "retry_failed",
    "show_job",
]
