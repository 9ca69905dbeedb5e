"""Single memories and sessions over HTTP."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from lithify.access import KeyScope
from lithify.assembly.library.memories import Memories
from lithify.assembly.library.schema import MemoryInput, MemoryView, MemoryWritten, SessionsView, TimelineView
from lithify.assembly.library.timeline import Timelines
from lithify.events import TenantScope
from lithify.events.turn import Identifier
from lithify.http import JsonRoute
from lithify.http.authorization import Access, get_caller


def memory_router(memories: Memories, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=JsonRoute)
    reader = Depends(access.needs(KeyScope.READ))
    writer = Depends(access.needs(KeyScope.INGEST))

    @router.get("/{memory_id}", responses={404: {}}, response_model_exclude_none=True)
    async def read_memory(
        memory_id: Annotated[str, Path(max_length=512, description="Id or path of a hit.")],
        caller: TenantScope = reader,
    ) -> MemoryView:
        """Show one stored record as it is."""
        return await memories.read(caller, memory_id)

    @router.post("", status_code=HTTPStatus.CREATED, responses={200: {}, 409: {}})
    async def write_memory(
        wanted: MemoryInput, request: Request, response: Response, caller: TenantScope = writer
    ) -> MemoryWritten:
        """Remember something for a user or, with an admin key, for all of the tenant; searchable on return."""
        if wanted.scope == "global":
            # It stands in the prompts of every user: who may send one user's turns must not speak to all of them.
            get_caller(request).require(KeyScope.ADMIN, "scope")
        written = await memories.write(caller, wanted)
        if written.status == "duplicate":
            response.status_code = HTTPStatus.OK
        return written

    return router


def session_router(timelines: Timelines, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1/sessions", tags=["memories"], route_class=JsonRoute)
    reader = Depends(access.needs(KeyScope.READ))

    @router.get("")
    async def list_sessions(user: Identifier, caller: TenantScope = reader) -> SessionsView:
        """List the sessions of a user, found among a bounded number of stored turns."""
        return await timelines.list_sessions(TenantScope(caller.tenant, user))

    @router.get("/{session:path}/timeline")
    async def read_timeline(
        session: Identifier,
        user: Identifier,
        limit: Annotated[int, Query(ge=1, le=500, description="How many of the newest turns.")] = 100,
        caller: TenantScope = reader,
    ) -> TimelineView:
        """Show turns with their state, the summaries that stand for old ones, and what became durable memory."""
        return await timelines.read(TenantScope(caller.tenant, user), session, limit)

    return router
