"""Forgetting over HTTP: ask for it, wait for it if wanted, and read its receipt afterwards."""

import asyncio
import time
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BaseModel, Field
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.access import KeyScope
from lithify.assembly.library.memories import fetch_memory
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.events.turn import Identifier
from lithify.forgetting import (
    Forgetting,
    Target,
    TargetKind,
    memory_target,
    read_forgetting,
    read_present_moment,
    request_forgetting,
    wait_past,
)
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.store import Record, VectorStore

POLL_S: Final = 0.05

Wait = Annotated[bool, Query(description="Wait, within bounds, until it is done; then the receipt comes with 200.")]
MemoryName = Annotated[str, Path(max_length=512, description="Id or path of a hit.")]


@dataclass(frozen=True, slots=True)
class ForgettingService:
    """Asks for forgettings and reads them; `jobs` is a blocking connection, as RQ needs it."""

    store: VectorStore
    redis: Redis
    jobs: BlockingRedis
    partitions: int
    wait_limit_ms: int

    async def begin(self, target: Target, *, wait: bool) -> Forgetting:
        """Begins a forgetting: what is accepted from now on lives, what was before goes, even if we end here."""
        moment = await read_present_moment(self.redis, self.partitions)
        ticket = await request_forgetting(self.jobs, target, moment)
        # Whoever has our answer and sends something sends it later than that, however quick they are.
        await wait_past(self.redis, moment)
        return await self._wait_for_end(target.tenant, ticket.job_id, self.wait_limit_ms if wait else 0)

    async def read(self, tenant: str, forgetting_id: str) -> Forgetting:
        """Reads how a forgetting fares. Raises NotFound."""
        found = await read_forgetting(self.jobs, tenant, forgetting_id)
        if found is None:
            raise NotFound(f"id: no forgetting {forgetting_id!r} was asked for, or its record has expired")
        return found

    async def find_memory(self, scope: TenantScope, name: str) -> Record:
        """Reads the memory that is to go. Raises NotFound, and Invalid for what is removed in another way."""
        record = await fetch_memory(self.store, scope, name)
        if record.payload.get("kind") == "authored":
            document = record.payload.get("source_ref")
            raise Invalid(f"id: {name!r} is part of a document; remove it with DELETE /v1/authored/{document}")
        return record

    async def _wait_for_end(self, tenant: str, forgetting_id: str, limit_ms: int) -> Forgetting:
        deadline = time.monotonic() + limit_ms / 1000
        while True:
            found = await self.read(tenant, forgetting_id)
            if found.has_ended or time.monotonic() >= deadline:
                return found
            await asyncio.sleep(POLL_S)


class ForgettingView(BaseModel):
    id: str
    status: str = Field(description="queued, started, scheduled (for another attempt), finished or failed.")
    receipt: Any = Field(None, description="What was removed from each place, once that is done and verified.")
    error: str | None = Field(None, description="Why it was given up.")
    attempts: int = Field(0, description="How often it was begun; what keeps it from its end is tried again.")


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """One request to forget: who asks, and whether they wait for the receipt."""

    service: ForgettingService
    response: Response
    wait: bool
    caller: TenantScope

    async def forget(self, kind: TargetKind, user: str | None, name: str = "") -> ForgettingView:
        return await self.answer(Target(self.caller.tenant, kind, user, name))

    async def answer(self, target: Target) -> ForgettingView:
        begun = await self.service.begin(target, wait=self.wait)
        self.response.status_code = HTTPStatus.OK if begun.receipt is not None else HTTPStatus.ACCEPTED
        return ForgettingView(**asdict(begun))


ANSWERS: Final[dict[int | str, dict[str, Any]]] = {200: {"model": ForgettingView}, 404: {}}


def forgetting_router(service: ForgettingService, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["forgetting"], route_class=JsonRoute)
    admin = Depends(access.needs(KeyScope.ADMIN))

    def read_request(response: Response, wait: Wait = False, caller: TenantScope = admin) -> ForgetRequest:
        return ForgetRequest(service, response, wait, caller)

    asked = Depends(read_request)

    @router.delete("/memories/{memory_id}", status_code=202, responses=ANSWERS)
    async def forget_memory(memory_id: MemoryName, request: ForgetRequest = asked) -> ForgettingView:
        """Forget one memory and the turns that say the same."""
        record = await service.find_memory(request.caller, memory_id)
        return await request.answer(memory_target(request.caller.tenant, record))

    @router.delete("/sessions/{session:path}", status_code=202, responses=ANSWERS)
    async def forget_session(session: Identifier, user: Identifier, request: ForgetRequest = asked) -> ForgettingView:
        """Forget a session of a user and everything that was made from it."""
        return await request.forget(TargetKind.SESSION, user, session)

    @router.delete("/users/{user:path}", status_code=202, responses=ANSWERS)
    async def forget_user(user: Identifier, request: ForgetRequest = asked) -> ForgettingView:
        """Forget everything a user said and everything that was made from it."""
        return await request.forget(TargetKind.USER, user)

    @router.delete("/sources/{source_ref:path}", status_code=202, responses=ANSWERS)
    async def forget_source(
        source_ref: Identifier, user: Identifier | None = None, request: ForgetRequest = asked
    ) -> ForgettingView:
        """Forget everything that came from one source, of all users or of one."""
        return await request.forget(TargetKind.SOURCE, user, source_ref)

    @router.get("/forgettings/{forgetting_id}", responses=ANSWERS)
    async def read_one(
        forgetting_id: Annotated[str, Path(max_length=64)], caller: TenantScope = admin
    ) -> ForgettingView:
        """Show how a forgetting fares, and its receipt once it is done."""
        return ForgettingView(**asdict(await service.read(caller.tenant, forgetting_id)))

    return router
