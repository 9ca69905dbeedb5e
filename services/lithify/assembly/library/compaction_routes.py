"""Compaction over HTTP: ask for it, watch it, and expand what it made."""

from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, ConfigDict, Field
from redis import Redis

from lithify.access import KeyScope
from lithify.assembly.library.memories import parse_memory_id
from lithify.compaction import Cause, SessionKey, read_compaction, request_compaction
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.events.turn import Identifier
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record


@dataclass(frozen=True, slots=True)
class CompactionParts:
    """Holds what compactions are read and asked for with; `jobs` is a blocking connection, as RQ needs it."""

    store: VectorStore
    jobs: Redis


class CompactRequest(BaseModel):
    """Names whose session is meant: hosts may name the sessions of two users alike."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: Identifier
    force: bool = Field(False, description="Also when less than one full cluster of old turns is there.")


class CompactTicket(BaseModel):
    job_id: str
    is_new: bool = Field(description="False if a compaction of the session was waiting or running already.")


class CompactionView(BaseModel):
    job_id: str
    status: str = Field(description="queued, started, scheduled (for another attempt), finished or failed.")
    result: Any = None
    error: str | None = None


class ExpandRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    max_depth: int = Field(
        3, ge=1, le=16, description="How many summaries deep to follow; today every summary covers turns directly."
    )


class RawTurn(BaseModel):
    id: str
    event_id: str
    session: str
    role: str
    ts: int
    seq: int | None = None
    text: str

    @classmethod
    def of(cls, record: Record) -> "RawTurn":
        named = {name: record.payload[name] for name in cls.model_fields if name in record.payload}
        return cls(id=record.id, **named)


class Expanded(BaseModel):
    id: str
    turns: list[RawTurn]
    missing: list[str] = Field(description="Event ids of covered turns that retention has purged.")


def compaction_router(service: CompactionParts, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["compaction"], route_class=JsonRoute)
    reader = Depends(access.needs(KeyScope.READ))
    writer = Depends(access.needs(KeyScope.INGEST))

    @router.post("/sessions/{session:path}/compact", status_code=HTTPStatus.ACCEPTED)
    async def compact_session(
        session: Identifier, request: CompactRequest, caller: TenantScope = writer
    ) -> CompactTicket:
        """Summarise the old turns of a session in the background; the newest ones and every raw turn stay."""
        cause = Cause.FORCE if request.force else Cause.REQUEST
        ticket = await request_compaction(service.jobs, SessionKey(caller.tenant, request.user, session), cause)
        return CompactTicket(**asdict(ticket))

    @router.get("/sessions/{session:path}/compact", responses={404: {}})
    async def read_session_compaction(
        session: Identifier, user: Identifier, caller: TenantScope = reader
    ) -> CompactionView:
        """Show how the latest compaction of a session fares."""
        found = await read_compaction(service.jobs, SessionKey(caller.tenant, user, session))
        if found is None:
            raise NotFound(f"session: no compaction of {session!r} was asked for lately")
        return CompactionView(**asdict(found))

    add_expansion(router, service, reader)
    return router


def add_expansion(router: APIRouter, service: CompactionParts, reader: Any) -> None:
    @router.post("/memories/{memory_id}:expand", responses={404: {}})
    async def expand_memory(
        memory_id: Annotated[str, Path(max_length=512, description="Id or path of a summary.")],
        request: ExpandRequest | None = None,  # noqa: ARG001 - checked, but every depth gives the same turns
        caller: TenantScope = reader,
    ) -> Expanded:
        """Show the raw turns a summary stands for, in their order."""
        record_id = parse_memory_id(memory_id)
        found = await expand_summary(service.store, caller, record_id)
        return Expanded(id=record_id, turns=list(map(RawTurn.of, found.turns)), missing=list(found.missing))


@dataclass(frozen=True, slots=True)
class Expansion:
    """Holds the turns behind a summary in their order; `missing` are the event ids of those that were purged."""

    turns: tuple[Record, ...]
    missing: tuple[str, ...]


async def expand_summary(store: VectorStore, scope: TenantScope, record_id: str) -> Expansion:
    """Reads the turns that a summary covers; none covers another summary, so there is nothing to follow further.

    Raises NotFound if the scope has no such record, Invalid if it is no summary.
    """
    records = await store.fetch(scope, COLLECTION, [record_id])
    if not records:
        raise NotFound(f"id: no memory {record_id!r}")
    memory = MemoryRecord.from_payload(records[0].payload)
    if memory.kind != "summary":
        raise Invalid(f"id: {record_id} is a {memory.kind}; only a summary can be expanded")
    owner = TenantScope(memory.tenant, memory.user)
    return await _fetch_turns(store, owner, memory.source_ids)


async def _fetch_turns(store: VectorStore, owner: TenantScope, event_ids: tuple[str, ...]) -> Expansion:
    where = Where().equals("kind", "turn").any_of("event_id", event_ids)
    found = {record.payload["event_id"]: record async for record in every_record(store, owner, COLLECTION, where)}
    turns = sorted(
        (found[event_id] for event_id in event_ids if event_id in found),
        key=lambda record: (record.payload["ts"], record.payload.get("seq") or 0, record.payload["event_id"]),
    )
    return Expansion(tuple(turns), tuple(event_id for event_id in event_ids if event_id not in found))
