"""Reduces a job as RQ stores it to a name and JSON arguments: nothing in Redis chooses what code is run."""

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
from lithify.telemetry.trace_context import HEADER as TRACEPARENT

ENTRY: Final = "lithify.jobs.run"
"""Stands where RQ keeps the function to import. It is compared, never imported."""

OUTAGES: Final = "outages"
"""Field of a job's meta: how often it met an outage since it was queued, and when it first did."""

# An outage costs no attempt, but who waits for the job is told some day that it will not come.
PATIENCE_S: Final = 86_400

ENDED: Final = frozenset({JobStatus.FINISHED, JobStatus.FAILED, JobStatus.STOPPED, JobStatus.CANCELED})


@dataclass(frozen=True, slots=True)
class JobCall:
    name: str
    args: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A job's status, what it returned if it returned, and the trace of its error if it failed."""

    status: str
    result: JsonValue = None
    trace: str | None = None

    @property
    def reason(self) -> str | None:
        """The last line of the trace."""
        return (self.trace or "").strip().rpartition("\n")[2] or None


class NamedJob(Job):
    """RQ's record without its ways to run what it names.

    With RQ's own class whoever writes to Redis runs code: by a pickle, but also by JSON that names any function, by the
    names of callbacks, and makes requests by webhooks.
    """

    # Set when trying again cannot help.
    hopeless = False
    # How many pauses it has had, which decides how long the next one is.
    pauses = 0

    @property
    def call(self) -> JobCall:
        """Raises Invalid if the payload is not JSON of ours."""
        try:
            payload = (self.func_name, self.instance, self.args, self.kwargs)
        except DeserializationError as error:
            raise Invalid(f"the payload of job {self.id} is not JSON") from error
        match payload:
            case (str(entry), None, [str(name), dict(args)], dict(kwargs)) if entry == ENTRY and not kwargs:
                return JobCall(name, args)
        raise Invalid(f"the payload of job {self.id} is not a call of {ENTRY}")

    @property
    def traceparent(self) -> str | None:
        """The trace context of the turn that caused this job."""
        # Whoever writes to Redis may have put anything here.
        meta: object = self.meta
        value = meta.get(TRACEPARENT) if isinstance(meta, dict) else None
        return value if isinstance(value, str) else None

    @property
    def attempt(self) -> int:
        """The number of the execution; it is 1 in the first. Those that an outage ended do not count."""
        return len(self.retry_intervals or ()) - (self.retries_left or 0) + 1

    @property
    def outages(self) -> int:
        """How many executions were ended by an outage."""
        return self._outage_marks()[0]

    def note_failure(self, now_s: float, *, is_outage: bool) -> None:
        """Notes why an execution ended, before it is tried again or given up.

        An outage is nobody's fault and costs no attempt; the pauses grow all the same, and after a day it is enough.
        """
        count, since = self._outage_marks()
        self.pauses = self.attempt - 1 + count
        if is_outage:
            # RQ takes one off.
            self.retries_left = (self.retries_left or 0) + 1
            since = since or now_s
            self.meta[OUTAGES] = [count + 1, since]
            self.hopeless = now_s - since > PATIENCE_S

    def forget_outages(self) -> None:
        # Not removed: RQ does not write a meta that is empty.
        self.meta[OUTAGES] = None

    def _outage_marks(self) -> tuple[int, float]:
        # Whoever writes to Redis may have put anything here.
        meta: object = self.meta
        match meta.get(OUTAGES) if isinstance(meta, dict) else None:
            case [int(count), int() | float() as since]:
                return count, since
        return 0, 0.0

    def get_retry_interval(self) -> int:
        """Returns the next pause in seconds: each is longer than the one before, and the last is repeated."""
        intervals = self.retry_intervals or [0]
        return int(intervals[min(self.pauses, len(intervals) - 1)])

    @property
    def has_ended(self) -> bool:
        return self.get_status(refresh=False) in ENDED

    def outcome(self) -> JobOutcome:
        """Reads how the job ended; before that only its status, because RQ still holds an earlier run's result."""
        return self.last_attempt() if self.has_ended else JobOutcome(self.get_status(refresh=False).value)

    def last_attempt(self) -> JobOutcome:
        """Reads what the latest attempt came to, also of a job that waits for its next one."""
        latest = self.latest_result()
        status = self.get_status(refresh=False).value
        return JobOutcome(status, latest.return_value, latest.exc_string) if latest else JobOutcome(status)

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
        """Sends nothing: there are none."""


def open_queue(connection: Redis, name: str) -> Queue:
    return Queue(name, connection=connection, job_class=NamedJob, serializer=JSONSerializer)
