"""Named background jobs on RQ: queued once per id, retried, resumable, and run without fork, pickle or signals."""

from lithify.jobs.connection import open_connection
from lithify.jobs.context import JobContext, JobFunction, Registry, given
from lithify.jobs.enqueue import Policy, Ticket, enqueue, job_id
from lithify.jobs.listing import STATUSES, JobDetail, JobSummary, list_jobs, show_job
from lithify.jobs.overview import FailedJob, QueueState, list_failed, read_queues, retry_failed
from lithify.jobs.record import open_queue
from lithify.jobs.runner import JobRunner, RunnerSettings
from lithify.jobs.schedule import Schedule, daily, due
from lithify.jobs.scheduler import Scheduler

__all__ = [
    "STATUSES",
    "FailedJob",
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
    "daily",
    "due",
    "enqueue",
    "given",
    "job_id",
    "list_failed",
    "list_jobs",
    "open_connection",
    "open_queue",
    "read_queues",
    "retry_failed",
    "show_job",
]
