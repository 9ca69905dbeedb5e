"""The assembly service: answers in time, and keeps the receipt of every answer."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, Late, attempt, hedged, in_time
from lithify.assembly.prompt.answer import as_sent, blocks_of, with_memory
from lithify.assembly.prompt.assembler import Assembled, Assembler
from lithify.assembly.prompt.docs_block import document_blocks
from lithify.assembly.prompt.receipt import assemble_receipt, search_receipt
from lithify.assembly.recall.recall import LATE_STORE, LATE_VECTOR
from lithify.assembly.recall.retrieval import Found
from lithify.assembly.recall.search import SearchResult, search
from lithify.assembly.schema import AssembleRequest, AssembleResponse, SearchRequest, SearchResponse
from lithify.assembly.traces import keep_trace, new_trace_id
from lithify.events import Clock, TenantScope
from lithify.memory.ranking.profile import Profile
from lithify.telemetry.metrics import ASSEMBLE_DURATION, ASSEMBLE_TOKENS

DEADLINE_MS: Final = 2_000
# For the notes after an answer, where its own time is used up.
NOTES_MS: Final = 250

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Assembly:
    assembler: Assembler
    redis: Redis
    clock: Clock
    trace_ttl_s: int
    deadline_ms: int = DEADLINE_MS

    @property
    def profile(self) -> Profile:
        return self.assembler.profile

    @property
    def fingerprint(self) -> str:
        return self.assembler.recall.retriever.embedder.fingerprint

    async def search(self, caller: TenantScope, request: SearchRequest) -> SearchResponse:
        scope, now = reading_scope(caller, request.user), self._now(request)
        deadline = self._deadline(request)
        result = await self._search(scope, request, now, deadline)
        receipt = search_receipt(request, result, self.profile, self.fingerprint, now)
        trace_id, complaints = await self._note(scope, receipt, (), deadline)
        return SearchResponse(hits=result.hits, degraded=[*result.found.degraded, *complaints], trace_id=trace_id)

    async def assemble(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        with ASSEMBLE_DURATION.labels("total").time():
            answer = await self._assemble(caller, request)
        ASSEMBLE_TOKENS.observe(answer.tokens)
        return answer

    async def _assemble(self, caller: TenantScope, request: AssembleRequest) -> AssembleResponse:
        scope, now = reading_scope(caller, request.user), self._now(request)
        deadline = self._deadline(request)
        result = await self.assembler.assemble(scope, request, now, deadline)
        receipt = assemble_receipt(request, result, self.fingerprint)
        # A replay must find the counts it left, or it would not be one.
        accessed = () if request.now is not None else result.context.composition.accessed
        with ASSEMBLE_DURATION.labels("note").time():
            trace_id, complaints = await self._note(scope, receipt, accessed, deadline)
        return response(request, result, trace_id, complaints)

    async def _search(self, scope: TenantScope, request: SearchRequest, now: int, deadline: Deadline) -> SearchResult:
        """A slow embedder costs the dense leg, a slow store the hits."""
        ask = partial(search, self.assembler.recall.retriever, scope)
        by_words = request.model_copy(update={"mode": "lexical"})
        try:
            if request.mode != "hybrid":
                return await in_time(ask(request, self.profile, now), deadline)
            answer = await hedged(
                lambda: ask(request, self.profile, now), lambda: ask(by_words, self.profile, now), deadline
            )
        except Late:
            return SearchResult([], Found(degraded=[LATE_STORE]))
        if answer.failure is None:
            return answer.value
        found = answer.value.found
        return SearchResult(answer.value.hits, Found(found.candidates, found.memories, [LATE_VECTOR]))

    def _now(self, request: SearchRequest | AssembleRequest) -> int:
        return self.clock() if request.now is None else request.now

    def _deadline(self, request: SearchRequest | AssembleRequest) -> Deadline:
        return Deadline.after(self.deadline_ms if request.deadline_ms is None else request.deadline_ms)

    async def _note(
        self, scope: TenantScope, receipt: Mapping[str, Any], accessed: Sequence[str], deadline: Deadline
    ) -> tuple[str, list[str]]:
        """Keeps the receipt and counts the uses, best effort; complains about a lost receipt only."""
        trace_id, deadline = new_trace_id(), max(deadline, Deadline.after(NOTES_MS))
        keeping = keep_trace(self.redis, scope, trace_id, receipt, self.trace_ttl_s)
        counting = self.assembler.accesses.count(scope, accessed)
        (_, complaints), (_, uncounted) = await asyncio.gather(
            attempt(keeping, deadline, None, "the receipt could not be kept"),
            attempt(counting, deadline, None, "uses could not be counted"),
        )
        for reason in (*complaints, *uncounted):
            log.warning("answer_not_noted", trace_id=trace_id, reason=reason)
        return trace_id, complaints


def reading_scope(caller: TenantScope, user: str | None) -> TenantScope:
    """One user sees what is shared as well; without a user the whole tenant is meant."""
    return TenantScope(caller.tenant, user, shared=user is not None)


def response(request: AssembleRequest, result: Assembled, trace_id: str, complaints: Sequence[str]) -> AssembleResponse:
    text, addition = result.text, request.form == "addition"
    counter = result.context.draft.terms.counter
    return AssembleResponse(
        text=text if addition else "",
        blocks=[*blocks_of(result.context), *document_blocks(result.documents, counter)],
        messages=as_sent(request.messages) if addition else with_memory(request.messages, text),
        tokens=result.tokens,
        degraded=[*result.degraded, *complaints],
        trace_id=trace_id,
    )
