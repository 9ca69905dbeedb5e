"""Asks for the compaction of a session and reads how it fares, alike for the worker's triggers and for the services."""

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
    """A cause says why a session is to be compacted, and so how much there must be to compact."""

    TOKENS = "tokens"
    IDLE = "idle"
    REQUEST = "request"
    FORCE = "force"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A key names one conversation. Hosts may name the sessions of two users alike."""

    tenant: str
    user: str
    session: str

    @property
    def scope(self) -> TenantScope:
        return TenantScope(self.tenant, self.user)

    @property
    def name(self) -> str:
        """One text from which `parse` makes the key again."""
        return json.dumps([self.tenant, self.user, self.session])

    @classmethod
    def parse(cls, name: str | bytes) -> Self:
        return cls(*json.loads(name))


@dataclass(frozen=True, slots=True)
class Compaction:
    """The latest compaction of a session has a `result` once it is finished, an `error` once it was given up."""

    job_id: str
    status: str
    result: JsonValue = None
    error: str | None = None


async def request_compaction(
    connection: Redis, key: SessionKey, cause: Cause, traceparent: str | None = None
) -> Ticket:
    """Queues a compaction, durably on return.

    While one waits or runs there is no second one of the session, whatever its cause.
    Raises Unavailable if Redis cannot serve; asking again is safe.
    """
    args = {"tenant": key.tenant, "user": key.user, "session": key.session, "trigger": cause.value}
    return await enqueue(open_queue(connection, QUEUE), JOB, args, unique_id=key.name, traceparent=traceparent)


async def read_compaction(connection: Redis, key: SessionKey) -> Compaction | None:
    """Returns None if none was asked for, or so long ago that its record is gone. Raises Unavailable."""
    return await in_thread(_read, connection, job_id(JOB, key.name))


def parse_cause(trigger: str) -> Cause:
    """Raises Invalid for a word that is no cause."""
    try:
        return Cause(trigger)
    except ValueError:
        raise Invalid(f"trigger: {trigger!r} is none of {', '.join(Cause)}") from None


def _read(connection: Redis, wanted: str) -> Compaction | None:
    job = find(connection, wanted)
    if job is None:
        return None
    outcome = job.outcome()
    return Compaction(wanted, outcome.status, outcome.result, outcome.reason)
