"""Sessions over HTTP: which a user has, and one of them as it lies in memory."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from lithify.access import KeyScope
from lithify.assembly.library.timeline import Timelines
from lithify.assembly.library.timeline_schema import SessionsView, TimelineView
from lithify.events import TenantScope
from lithify.events.turn import Identifier
from lithify.http import JsonRoute
from lithify.http.access import Access


def session_router(timelines: Timelines, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1/sessions", tags=["memories"], route_class=JsonRoute)
    reader = Depends(access.needs(KeyScope.READ))

    @router.get("")
    async def list_sessions(user: Identifier, caller: TenantScope = reader) -> SessionsView:
        """The sessions of a user, found among a bounded number of stored turns."""
        return await timelines.sessions(TenantScope(caller.tenant, user))

    @router.get("/{session:path}/timeline")
    async def read_timeline(
        session: Identifier,
        user: Identifier,
        limit: Annotated[int, Query(ge=1, le=500, description="How many of the newest turns.")] = 100,
        caller: TenantScope = reader,
    ) -> TimelineView:
        """Turns with their state, the summaries that stand for old ones, and what became durable memory."""
        return await timelines.read(TenantScope(caller.tenant, user), session, limit)

    return router
