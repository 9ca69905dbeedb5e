"""A job as RQ stores it, reduced to a name and JSON arguments: nothing in Redis chooses what code is run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue
from redis import Redis
from rq import Queue
from rq.exceptions import DeserializationError
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from rq.types import FailureCallbackType, SuccessCallbackType

from lithify.errors import Invalid
from lithify.telemetry.trace import HEADER as TRACEPARENT

ENTRY: Final = "lithify.jobs.run"
"""Stands where RQ keeps the function to import. It is compared, never imported."""

ENDED: Final = frozenset({JobStatus.FINISHED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED})


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: dict[str, JsonValue]


class NamedJob(Job):
    """RQ's record without its ways to run what it names.

    With RQ's own class whoever writes to Redis runs code: by a pickle, but also by JSON that names any function, by the
    names of callbacks, and makes requests by webhooks.
    """

    # Set when trying again cannot help.
    hopeless = False

    @property
    def call(self) -> Call:
        """Raises Invalid if the payload is not JSON of ours."""
        try:
            payload = (self.func_name, self.instance, self.args, self.kwargs)
        except DeserializationError as error:
            raise Invalid(f"the payload of job {self.id} is not JSON") from error
        match payload:
            case (str(entry), None, [str(name), dict(args)], dict(kwargs)) if entry == ENTRY and not kwargs:
                return Call(name, args)
        raise Invalid(f"the payload of job {self.id} is not a call of {ENTRY}")

    @property
    def traceparent(self) -> str | None:
        """The trace context of the turn that caused this job."""
        # Whoever writes to Redis may have put anything here.
        meta: object = self.meta
        given = meta.get(TRACEPARENT) if isinstance(meta, dict) else None
        return given if isinstance(given, str) else None

    @property
    def attempt(self) -> int:
        """1 in the first execution."""
        return len(self.retry_intervals or ()) - (self.retries_left or 0) + 1

    @property
    def ended(self) -> bool:
        return self.get_status(refresh=False) in ENDED

    @property
    def should_retry(self) -> bool:
        return super().should_retry and not self.hopeless

    def conclude(self, result: object) -> None:
        self._result = result

    @property
    def func(self) -> Callable[..., object]:
        raise Invalid("jobs are run by name, not by import")

    @property
    def success_callback(self) -> SuccessCallbackType | None:
        return None

    @property
    def failure_callback(self) -> FailureCallbackType | None:
        return None

    @property
    def stopped_callback(self) -> None:
        return None

    def send_webhooks(self, status: str | JobStatus, *, exc_string: str | None = None) -> None:
        """There are none."""


def open_queue(connection: Redis, name: str) -> Queue:
    return Queue(name, connection=connection, job_class=NamedJob, serializer=JSONSerializer)
