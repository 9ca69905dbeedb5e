"""The assembly service's HTTP surface."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path
from redis.asyncio import Redis

from lithify.assembly.assemble import Assembler
from lithify.assembly.context import blocks_of
from lithify.assembly.receipt import assemble_receipt, search_receipt
from lithify.assembly.schema import AssembleRequest, AssembleResponse, SearchRequest, SearchResponse
from lithify.assembly.search import search
from lithify.assembly.traces import keep_trace, new_trace_id, read_trace
from lithify.events import Clock, TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.http import JsonRoute, NotFound
from lithify.memory.ranking.profile import Profile


@dataclass(frozen=True, slots=True)
class Assembly:
    """The service behind the routes: answers, and keeps the receipt of every answer."""

    assembler: Assembler
    redis: Redis
    clock: Clock
    trace_ttl_s: int

    @property
    def profile(self) -> Profile:
        return self.assembler.profile

    async def search(self, request: SearchRequest) -> SearchResponse:
        scope, now = scope_for(request.user), self._now(request)
        result = await search(self.assembler.retriever, scope, request, self.profile, now)
        trace_id = await self._keep(scope, search_receipt(request, result, self.profile, now))
        return SearchResponse(hits=result.hits, degraded=result.found.degraded, trace_id=trace_id)

    async def assemble(self, request: AssembleRequest) -> AssembleResponse:
        scope, now = scope_for(request.user), self._now(request)
        result = await self.assembler.assemble(scope, request, now)
        trace_id = await self._keep(scope, assemble_receipt(request, result, self.profile, now))
        return AssembleResponse(
            text=result.context.text,
            blocks=blocks_of(result.context),
            messages=[message.model_dump(exclude_unset=True) for message in request.messages],
            tokens=result.context.tokens,
            degraded=result.degraded,
            trace_id=trace_id,
        )

    def _now(self, request: SearchRequest | AssembleRequest) -> int:
        return self.clock() if request.now is None else request.now

    async def _keep(self, scope: TenantScope, receipt: dict[str, Any]) -> str:
        trace_id = new_trace_id()
        await keep_trace(self.redis, scope, trace_id, receipt, self.trace_ttl_s)
        return trace_id


def assembly_router(service: Assembly) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["recall"], route_class=JsonRoute)

    @router.post("/search")
    async def search_memory(request: SearchRequest) -> SearchResponse:
        """Find memories; each hit shows the components of its score."""
        return await service.search(request)

    @router.post("/assemble")
    async def assemble_context(request: AssembleRequest) -> AssembleResponse:
        """Build the memory part of the next prompt inside the token budget."""
        return await service.assemble(request)

    @router.get("/traces/{trace_id}", responses={404: {}})
    async def trace(trace_id: Annotated[str, Path(max_length=64)]) -> dict[str, Any]:
        """Explain an earlier search or assemble."""
        found = await read_trace(service.redis, scope_for(None), trace_id)
        if found is None:
            raise NotFound(f"trace_id: no trace {trace_id!r}; it never was or has expired")
        return found

    return router


def scope_for(user: str | None) -> TenantScope:
    # Without API keys everything on loopback is one tenant.
    return TenantScope(DEFAULT_TENANT, user)
