"""The jobs of this system: which there are, when they run, and the process that runs them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import time
from typing import Final

from lithify.archiver.inspection import JOB as INSPECT_ARCHIVE
from lithify.archiver.inspection import inspect_archive
from lithify.events import system_clock
from lithify.jobs import JobRunner, Registry, RunnerSettings, Schedule, Scheduler, daily, given, open_connection
from lithify.node.parts import Queue
from lithify.settings import Settings

MAINTENANCE: Final = "maintenance"
QUEUES: Final = (MAINTENANCE,)
# At night in Europe and America, and never at the full hour when everybody else's jobs start.
INSPECTION_TIME: Final = time(3, 23)


def job_runner(settings: Settings, queue: Queue, name: str, stack: AsyncExitStack) -> JobRunner[None]:
    connection = open_connection(queue.url)
    stack.callback(connection.close)
    executor = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="job"))
    return JobRunner(connection, name, registry(settings), None, executor, RunnerSettings(), system_clock)


def registry(settings: Settings) -> Registry[None]:
    return {INSPECT_ARCHIVE: given(inspect_archive, settings.archive_folder)}


def scheduler(settings: Settings, queue: Queue, stack: AsyncExitStack) -> Scheduler:
    """Any number of processes may have one; a lock in Redis lets one at a time act."""
    connection = open_connection(queue.url)
    stack.callback(connection.close)
    return Scheduler(connection, schedules(settings), system_clock)


def schedules(settings: Settings) -> list[Schedule]:
    return [daily("inspect-archive", MAINTENANCE, INSPECT_ARCHIVE, INSPECTION_TIME)] if settings.archive else []
