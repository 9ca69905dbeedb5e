"""The assembly service: answers in time, and keeps the receipt of every answer."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog

from lithify.assembly.deadlines import Deadline, attempt
from lithify.assembly.prompt.answer import make_response
from lithify.assembly.prompt.builder import ContextBuilder
from lithify.assembly.prompt.receipt import assemble_receipt, search_receipt
from lithify.assembly.recall.search import search
from lithify.assembly.schema import AssembleRequest, AssembleResponse, SearchRequest, SearchResponse
from lithify.assembly.traces import TraceBook, notes_deadline
from lithify.events import Clock, TenantScope
from lithify.telemetry.metrics import ASSEMBLE_DURATION, ASSEMBLE_TOKENS

DEADLINE_MS: Final = 2_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class AssemblyService:
    """Answers `search` and `assemble`. What is slow or away is left out of an answer, which says so in `degraded`."""

    builder: ContextBuilder
    traces: TraceBook
    clock: Clock
    deadline_ms: int = DEADLINE_MS

    async def search(self, caller: TenantScope, request: SearchRequest) -> SearchResponse:
        scope = reading_scope(caller, request.user)
        now = self._now(request)
        deadline = self._deadline(request)
        builder = self.builder
        result = await search(builder.retriever, scope, request, builder.profile, now_ms=now, deadline=deadline)
        receipt = search_receipt(request, result, builder.profile, builder.retriever.fingerprint, now_ms=now)
        trace_id, complaints = await self.traces.keep(scope, receipt, deadline)
        return SearchResponse(hits=result.hits, degraded=[*result.found.degraded, *complaints], trace_id=trace_id)

    async def assemble(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        with ASSEMBLE_DURATION.labels("total").time():
            answer = await self._build_and_note(caller, request)
        ASSEMBLE_TOKENS.observe(answer.tokens)
        return answer

    async def _build_and_note(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        scope = reading_scope(caller, request.user)
        deadline = self._deadline(request)
        built = await self.builder.build(scope, request, self._now(request), deadline)
        receipt = assemble_receipt(request, built, self.builder.retriever.fingerprint)
        # A replay must find the counts it left, or it would not be one.
        used = () if request.now is not None else built.context.composition.used_ids
        with ASSEMBLE_DURATION.labels("note").time():
            trace_id, complaints = await self._note(scope, receipt, used, deadline)
        return make_response(request, built, trace_id, complaints)

    def _now(self, request: SearchRequest | AssembleRequest) -> int:
        return self.clock() if request.now is None else request.now

    def _deadline(self, request: SearchRequest | AssembleRequest) -> Deadline:
        return Deadline.after(self.deadline_ms if request.deadline_ms is None else request.deadline_ms)

    async def _note(
        self, scope: TenantScope, receipt: Mapping[str, Any], used: Sequence[str], deadline: Deadline
    ) -> tuple[str, list[str]]:
        """Keeps the receipt and counts the uses, best effort; complains about a lost receipt only."""
        counting = self.builder.use_counts.count(scope, used)
        (trace_id, complaints), (_, uncounted) = await asyncio.gather(
            self.traces.keep(scope, receipt, deadline),
            attempt(counting, notes_deadline(deadline), None, "uses could not be counted"),
        )
        for reason in uncounted:
            log.warning("answer_not_noted", trace_id=trace_id, reason=reason)
        return trace_id, complaints


def reading_scope(caller: TenantScope, user: str | None) -> TenantScope:
    """Returns what may be read: one user's and what is shared, or without a user all of the tenant's."""
    return TenantScope(caller.tenant, user, shared=user is not None)
