"""How the compaction of a session is asked for and watched, the same for the worker's triggers and for the services."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from pydantic import JsonValue
from redis import Redis

from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.jobs.connection import in_thread
from lithify.jobs.enqueue import Ticket, enqueue, find, job_id
from lithify.jobs.record import open_queue

QUEUE: Final = "compaction"
JOB: Final = "compact_session"


class Cause(StrEnum):
    """Why a session is to be compacted; it decides how much there must be to compact."""

    TOKENS = "tokens"
    IDLE = "idle"
    REQUEST = "request"
    FORCE = "force"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """One conversation. Hosts may name the sessions of two users alike."""

    tenant: str
    user: str
    session: str

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.tenant, self.user)

    @property
    def name(self) -> str:
        """One text from which the parts can be told again."""
        return json.dumps([self.tenant, self.user, self.session])

    @classmethod
    def parse(cls, name: str | bytes) -> Self:
        return cls(*json.loads(name))


@dataclass(frozen=True, slots=True)
class Compaction:
    """The latest compaction of a session; `result` is set once it is finished, `error` once it is given up."""

    job_id: str
    status: str
    result: JsonValue = None
    error: str | None = None


async def request_compaction(
    connection: Redis, key: SessionKey, cause: Cause, traceparent: str | None = None
) -> Ticket:
    """Durable on return. While one waits or runs there is no second one of the session, whatever its cause.

    Raises Unavailable if Redis cannot serve; asking again is safe.
    """
    args = {"tenant": key.tenant, "user": key.user, "session": key.session, "trigger": cause.value}
    return await enqueue(open_queue(connection, QUEUE), JOB, args, unique_id=key.name, traceparent=traceparent)


async def read_compaction(connection: Redis, key: SessionKey) -> Compaction | None:
    """None if none was asked for, or so long ago that its record is gone. Raises Unavailable."""
    return await in_thread(_read, connection, job_id(JOB, key.name))


def parse_cause(trigger: str) -> Cause:
    try:
        return Cause(trigger)
    except ValueError:
        raise Invalid(f"trigger: {trigger!r} is none of {', '.join(Cause)}") from None


def _read(connection: Redis, wanted: str) -> Compaction | None:
    job = find(connection, wanted)
    if job is None:
        return None
    latest = job.latest_result() if job.ended else None
    trace = (latest.exc_string if latest else None) or ""
    return Compaction(
        job_id=wanted,
        status=job.get_status(refresh=False).value,
        result=latest.return_value if latest else None,
        error=trace.strip().rpartition("\n")[2] or None,
    )
