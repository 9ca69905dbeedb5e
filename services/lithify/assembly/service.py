"""The assembly service: answers in time, and keeps the receipt of every answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from lithify.assembly.deadlines import Deadline, attempt
from lithify.assembly.prompt.answer import make_response
from lithify.assembly.prompt.builder import ContextBuilder
from lithify.assembly.prompt.receipt import assemble_receipt, search_receipt
from lithify.assembly.recall.search import search
from lithify.assembly.schema import AssembleRequest, AssembleResponse, SearchRequest, SearchResponse
from lithify.assembly.traces import TraceBook
from lithify.events import Clock, TenantScope
from lithify.store.readable import note_unreadable
from lithify.telemetry.metrics import ASSEMBLE_DURATION, ASSEMBLE_TOKENS

DEADLINE_MS: Final = 2_000
# What counting uses may still take after an answer that used up its own time.
COUNT_MS: Final = 250

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
        with note_unreadable() as left_out:
            result = await search(builder.retriever, scope, request, builder.profile, now_ms=now, deadline=deadline)
        receipt = search_receipt(request, result, builder.profile, builder.retriever.fingerprint, now_ms=now)
        return SearchResponse(
            hits=result.hits,
            degraded=[*result.found.degraded, *left_out.complaints],
            trace_id=self.traces.keep(scope, receipt),
        )

    async def assemble(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        with ASSEMBLE_DURATION.labels("total").time():
            answer = await self._build_and_count(caller, request)
        ASSEMBLE_TOKENS.observe(answer.tokens)
        return answer

    async def _build_and_count(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        scope = reading_scope(caller, request.user)
        deadline = self._deadline(request)
        with note_unreadable() as left_out:
            built = await self.builder.build(scope, request, self._now(request), deadline)
        receipt = assemble_receipt(request, built, self.builder.retriever.fingerprint)
        # A replay must find the counts it left, or it would not be one.
        used = () if request.now is not None else built.context.composition.used_ids
        with ASSEMBLE_DURATION.labels("note").time():
            await self._count_uses(scope, used, deadline)
        answer = make_response(request, built, self.traces.keep(scope, receipt))
        return answer.model_copy(update={"degraded": [*answer.degraded, *left_out.complaints]})

    def _now(self, request: SearchRequest | AssembleRequest) -> int:
        return self.clock() if request.now is None else request.now

    def _deadline(self, request: SearchRequest | AssembleRequest) -> Deadline:
        return Deadline.after(self.deadline_ms if request.deadline_ms is None else request.deadline_ms)

    async def _count_uses(self, scope: TenantScope, used: Sequence[str], deadline: Deadline) -> None:
        """Counts what was recalled, best effort: until the deadline of the answer, or a little time in any case."""
        counting = self.builder.use_counts.count(scope, used)
        until = max(deadline, Deadline.after(COUNT_MS))
        for reason in (await attempt(counting, until, None, "uses could not be counted"))[1]:
            log.warning("uses_not_counted", reason=reason)


def reading_scope(caller: TenantScope, user: str | None) -> TenantScope:
    """Returns what may be read: one user's and what is shared, or without a user all of the tenant's."""
    return TenantScope(caller.tenant, user, shared=user is not None)
