"""Builds the memory part of the next prompt; answers with what it has when a dependency is down or slow."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, attempt, hedged, in_time
from lithify.assembly.prompt.answer import asked, shown_turns
from lithify.assembly.prompt.context import Context, Draft, Ingredients, Terms, compose_context, draft
from lithify.assembly.prompt.docs_block import NO_DOCUMENTS, Documents, draft_beside, read_documents
from lithify.assembly.prompt.promises import check
from lithify.assembly.prompt.recent_turns import RecentTurns
from lithify.assembly.prompt.rules import KnownRules, Lawless, NoRules, Rules, RuleSource
from lithify.assembly.prompt.token_counter import ESTIMATOR, Counter
from lithify.assembly.recall.links import Links
from lithify.assembly.recall.pools import source_of
from lithify.assembly.recall.recall import Recall, Recalled
from lithify.assembly.recall.retrieval import Found, Retriever
from lithify.assembly.recall.slot_meanings import SlotMeanings
from lithify.assembly.recall.use_counts import AccessCounts, Uses
from lithify.assembly.schema import AssembleRequest
from lithify.docs.search import DocSearch
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.prompt.budget import memory_budget
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.profile import Profile
from lithify.memory.temporal.projection import SlotCosines
from lithify.memory.turn import Turn
from lithify.memory.vectors.cascade import TierTrace
from lithify.telemetry.metrics import ASSEMBLE_DURATION

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one assembly could read, and what it could not."""

    turns: Sequence[Turn]
    rules: Rules
    recalled: Recalled
    missing: Sequence[str]
    documents: Documents = NO_DOCUMENTS


@dataclass(frozen=True, slots=True)
class Assembled:
    query: str
    context: Context
    degraded: list[str] = field(default_factory=list)
    generation: int = 0  # of the authored rules
    cached: bool = False  # whether durable and shared memory came from the cache
    hidden: frozenset[str] = frozenset()  # turns the host shows itself
    tiers: Sequence[TierTrace] = ()  # which prefixes were searched, where a cascade is
    documents: Documents = NO_DOCUMENTS

    @property
    def text(self) -> str:
        return self.context.text + self.documents.part.text

    @property
    def tokens(self) -> int:
        return self.context.tokens + self.documents.part.tokens


class Assembler:
    """Reads tail, rules and memories beside each other, then composes."""

    def __init__(
        self,
        retriever: Retriever,
        redis: Redis,
        partitions: int,
        tail_turns: int,
        profile: Profile,
        *,
        rules: RuleSource | None = None,
        documents: DocSearch | None = None,
        counter: Counter = ESTIMATOR,
        check_invariants: bool = False,
    ) -> None:
        self.profile = profile
        self.recall = Recall(retriever, redis, profile)
        self.accesses = AccessCounts(redis)
        self._turns = RecentTurns(redis, retriever.store, partitions, tail_turns)
        self._rules = KnownRules(rules or Lawless())
        self._links = Links(retriever.store, retriever.embedder.manifest.family)
        self._slots = SlotMeanings(retriever.store, retriever.embedder, retriever.executor)
        self._documents = documents
        self._counter = counter
        self._checks = check_invariants

    async def assemble(
        self, scope: TenantScope, request: AssembleRequest, now_ms: int, deadline: Deadline
    ) -> Assembled:
        """Never raises because memory is down or slow; `degraded` says what is missing (spec 01 §8)."""
        query = asked(request)
        terms = Terms(memory_budget(request.token_budget, self.profile), self.profile, now_ms, self._counter)
        try:
            result = await self._assemble(scope, request, query, terms, deadline)
        except Exception as error:
            # The conversation goes on whatever fails in here (X51).
            kind = type(first_of(error)).__name__
            log.error("assemble_failed", kind=kind, exc_info=error)
            empty = compose_context(draft(Ingredients(query), terms))
            return Assembled(query, empty, [f"memory failed unexpectedly ({kind}); see the log"])
        if self._checks:
            check(result.context, result.documents)
        return result

    async def _assemble(
        self, scope: TenantScope, request: AssembleRequest, query: str, terms: Terms, deadline: Deadline
    ) -> Assembled:
        with ASSEMBLE_DURATION.labels("read").time():
            reading = await self._read_all(scope, request, query, terms, deadline)
        with ASSEMBLE_DURATION.labels("compose").time():
            return await self._compose(scope, request, query, terms, reading, deadline)

    async def _compose(
        self,
        scope: TenantScope,
        request: AssembleRequest,
        query: str,
        terms: Terms,
        reading: Reading,
        deadline: Deadline,
    ) -> Assembled:
        visible = shown_turns(request)
        found = unseen(reading.recalled.found, visible)
        uses, missing = await self._uses(scope, found, deadline)
        ingredients = Ingredients(
            query=query,
            turns=[turn for turn in reading.turns if turn.id not in visible],
            hard=reading.rules.hard,
            soft=reading.rules.soft,
            candidates=self._links.resolved(scope, counted(found.candidates, uses)),
            sources={key: source_of(memory, key) for key, memory in found.memories.items()},
            max_access=uses.highest,
        )
        planned, documents = draft_beside(ingredients, terms, reading.documents)
        linked, cosines, unread = await self._deepen(scope, request.session, planned, deadline)
        context = compose_context(planned, {k: c for k, c in linked.items() if c.source_turn not in visible}, cosines)
        degraded = [*context.reasons, *reading.missing, *missing, *unread, *documents.missing]
        return Assembled(
            query, context, degraded, reading.rules.generation, reading.recalled.cached, visible, found.tiers, documents
        )

    async def _read_all(
        self, scope: TenantScope, request: AssembleRequest, query: str, terms: Terms, deadline: Deadline
    ) -> Reading:
        """Memory, and beside it the documents where they are wanted."""
        reading = self._read(scope, request.session, query, terms.tau, deadline)
        if request.documents is None or self._documents is None:
            return await reading
        finding = read_documents(self._documents, scope, request.documents, query, terms, deadline)
        read, documents = await asyncio.gather(reading, finding)
        return replace(read, documents=documents)

    async def _read(self, scope: TenantScope, session: str, query: str, room: float, deadline: Deadline) -> Reading:
        async with asyncio.TaskGroup() as tasks:
            tail = tasks.create_task(self._tail(scope, session, deadline))
            rules = tasks.create_task(self._binding(scope, deadline))
            recalled = tasks.create_task(self.recall.find(scope, query, session, room, deadline))
        (turns, no_tail), (known, no_rules) = tail.result(), rules.result()
        return Reading(turns, known, recalled.result(), [*no_rules, *no_tail, *recalled.result().found.degraded])

    async def _tail(self, scope: TenantScope, session: str, deadline: Deadline) -> tuple[list[Turn], list[str]]:
        try:
            answer = await hedged(
                lambda: self._turns.accepted(scope, session), lambda: self._turns.stored(scope, session), deadline
            )
        except LithifyError as error:
            return [], [f"the recent turns cannot be read: {error}"]
        if answer.failure is None:
            return answer.value, []
        return answer.value, [f"the very newest turns may be missing: {answer.failure}"]

    async def _binding(self, scope: TenantScope, deadline: Deadline) -> tuple[Rules, list[str]]:
        try:
            return await in_time(self._rules.rules(scope), deadline), []
        except LithifyError as error:
            last = self._rules.last(scope)
            if last is not None:
                return last, [f"the rules are those last read: {error}"]
            return NoRules(), [f"the rules cannot be read: {error}"]

    async def _uses(self, scope: TenantScope, found: Found, deadline: Deadline) -> tuple[Uses, list[str]]:
        ids = [candidate.id for candidate in found.candidates]
        if not ids or not self.profile.authority.frequency:
            return Uses(), []
        reading = self.accesses.read(scope, ids)
        return await attempt(reading, deadline, Uses(), "how often memories were used cannot be read")

    async def _deepen(
        self, scope: TenantScope, session: str, planned: Draft, deadline: Deadline
    ) -> tuple[Mapping[str, Candidate], SlotCosines | None, list[str]]:
        """What only the ranking could ask for: link targets, and the meanings of a question about time."""
        known = {candidate.id for candidate in planned.competing}
        targets = [hop.target for hop in planned.hops if hop.target not in known]
        following = self._links.fetch(scope, targets, session, self.profile)
        linked, no_links = await attempt(following, deadline, {}, "linked memories cannot be read")
        comparing = self._slots.read(scope, planned)
        cosines, no_cosines = await attempt(comparing, deadline, None, "events were matched by their words alone")
        return linked, cosines, [*no_links, *no_cosines]


def first_of(error: Exception) -> Exception:
    """What went wrong, where several parts were at work."""
    return first_of(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


def counted(candidates: Sequence[Candidate], uses: Uses) -> list[Candidate]:
    return [replace(c, access_count=float(uses.counts[c.id])) if c.id in uses.counts else c for c in candidates]


def unseen(found: Found, visible: frozenset[str]) -> Found:
    """Without the turns the host shows itself; recalling them would say everything twice."""
    if not visible:
        return found
    kept = [candidate for candidate in found.candidates if candidate.source_turn not in visible]
    return replace(found, candidates=kept)
