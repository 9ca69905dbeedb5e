"""Builds the memory part of the next prompt; answers with what it has when a dependency is down or slow."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import structlog
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, attempt, finish_by, has_succeeded, hedge
from lithify.assembly.prompt.context import Context, PlannedContext, compose_context, plan_context
from lithify.assembly.prompt.docs_block import NO_DOCUMENTS, PromptDocuments, plan_beside, read_documents
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.prompt.messages import ShownTurns, find_shown
from lithify.assembly.prompt.promises import check_promises
from lithify.assembly.prompt.recent_turns import RecentTurns
from lithify.assembly.prompt.split import compose_stable, leave_to_fresh
from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.instructions import StandingInstructions
from lithify.assembly.recall.links import Links
from lithify.assembly.recall.pools import source_of
from lithify.assembly.recall.recall import Recall, Recalled
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.slot_meanings import SlotMeanings
from lithify.assembly.recall.summaries import Summaries
from lithify.assembly.recall.use_counts import UseCounts, Uses
from lithify.assembly.schema import AssembleRequest
from lithify.authored import AuthoredReader, Rules
from lithify.docs.search import DocSearch
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.prompt.budget import memory_budget
from lithify.memory.question import clip_question
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.profile import Profile
from lithify.memory.temporal.projection import SlotCosines
from lithify.memory.turn import Turn
from lithify.memory.vectors.cascade import TierTrace
from lithify.telemetry.metrics import ASSEMBLE_DURATION

# Redis answers in a millisecond, and the question takes several to be embedded. A slow one must not hold up recall.
PATIENCE_S: Final = 0.05
# Of a line, what its number, date and speaker cost.
MARK_TOKENS: Final = 8
NO_RULES: Final = Rules(hard=(), soft=(), generation=0)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PromptOrder:
    """Names who wants which prompt, about what, on which terms, and until when."""

    scope: TenantScope
    request: AssembleRequest
    terms: Terms
    deadline: Deadline

    @property
    def topic(self) -> str:
        return clip_question(self.request.topic)

    @property
    def session(self) -> str:
        return self.request.session

    @property
    def is_split(self) -> bool:
        return self.request.form == "split"


class SessionReading(NamedTuple):
    """Holds the newest turns of a session, which of them the host shows itself, and what could not be read."""

    turns: list[Turn]
    shown: ShownTurns
    missing: list[str]


@dataclass(frozen=True, slots=True)
class PromptReading:
    """Holds what could be read for one prompt; `missing` says what could not."""

    turns: Sequence[Turn]
    shown: ShownTurns
    rules: Rules
    recalled: Recalled
    missing: Sequence[str]
    documents: PromptDocuments = NO_DOCUMENTS
    instructions: Sequence[Candidate] = ()  # standing ones: all where the prompt is split, else the general ones


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A context with the documents beside it, and what its receipt tells of how it was read."""

    query: str
    context: Context
    degraded: list[str] = field(default_factory=list)
    generation: int = 0  # of the authored rules
    cached: bool = False  # whether durable and shared memory came from the cache
    hidden: frozenset[str] = frozenset()  # turns the host shows itself
    tiers: Sequence[TierTrace] = ()  # which prefixes were searched, where a cascade is
    documents: PromptDocuments = NO_DOCUMENTS
    stable: Context | None = None  # the part that no question changes, where the prompt is split

    @property
    def text(self) -> str:
        return self.context.text + self.documents.part.text

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in (self.context, self.documents.part, self.stable) if part)

    @property
    def is_over_budget(self) -> bool:
        return any(part.is_over_budget for part in (self.context, self.stable) if part)


class ContextBuilder:
    """Reads tail, rules, memories and documents beside each other, then composes.

    `build` alone catches what nobody foresaw; each read below it catches the outages of its own dependency.
    """

    def __init__(
        self,
        retriever: Retriever,
        redis: Redis,
        partitions: int,
        tail_turns: int,
        profile: Profile,
        *,
        rules: AuthoredReader | None = None,
        documents: DocSearch | None = None,
        counter: PromptCounter = ESTIMATOR,
        check_invariants: bool = False,
        guidance: bool = True,
    ) -> None:
        self.retriever = retriever
        self.profile = profile
        self.use_counts = UseCounts(redis)
        self._recall = Recall(retriever, redis, profile)
        self._turns = RecentTurns(redis, retriever.store, partitions, tail_turns, retriever.embedder.manifest.family)
        self._rules = rules
        self._summaries = Summaries(retriever.store)
        self._links = Links(retriever.store, retriever.embedder.manifest.family)
        self._slots = SlotMeanings(retriever.store, retriever.embedder, retriever.executor)
        self._instructions = StandingInstructions(retriever.store)
        self._documents = documents
        self._counter = counter
        self._checks = check_invariants
        self._guides = guidance

    async def build(
        self, scope: TenantScope, request: AssembleRequest, now_ms: int, deadline: Deadline
    ) -> BuiltContext:
        """Never raises because memory is down or slow; `degraded` says what is missing (spec 01 §8).

        Raises BrokenPromise if invariants are checked and one of them does not hold.
        """
        tau = memory_budget(request.token_budget, self.profile)
        floor = self.profile.relevance_floor if request.min_score is None else request.min_score
        strict = request.min_score is not None
        terms = Terms(tau, self.profile, now_ms, self._counter, order=request.order, floor=floor, is_strict=strict)
        order = PromptOrder(scope, request, terms, deadline)
        try:
            built = await self._read_and_compose(order)
        except Exception as error:
            # The conversation goes on whatever fails in here (X51).
            kind = type(first_cause(error)).__name__
            log.error("assemble_failed", kind=kind, exc_info=error)
            empty = compose_context(plan_context(Ingredients(order.topic), terms))
            return BuiltContext(order.topic, empty, [f"memory failed unexpectedly ({kind}); see the log"])
        if self._checks:
            check_promises(built.context, built.documents)
            if built.stable is not None:
                check_promises(built.stable)
        return built

    async def _read_and_compose(self, order: PromptOrder) -> BuiltContext:
        with ASSEMBLE_DURATION.labels("read").time():
            reading = await self._read(order)
        with ASSEMBLE_DURATION.labels("compose").time():
            return await self._compose(order, reading)

    async def _read(self, order: PromptOrder) -> PromptReading:
        """Reads memory, and beside it the documents and standing instructions where they are wanted."""
        reading, documents, (instructions, unread) = await asyncio.gather(
            self._read_memory(order), self._read_documents(order), self._read_instructions(order)
        )
        if reading.recalled.found.degraded and not order.is_split:
            unread = []  # recall complains of the store already
        return replace(reading, documents=documents, instructions=instructions, missing=[*reading.missing, *unread])

    async def _read_documents(self, order: PromptOrder) -> PromptDocuments:
        wanted = order.request.documents
        if wanted is None or self._documents is None:
            return NO_DOCUMENTS
        return await read_documents(
            self._documents, order.scope, wanted, order.topic, terms=order.terms, deadline=order.deadline
        )

    async def _read_instructions(self, order: PromptOrder) -> tuple[Sequence[Candidate], list[str]]:
        # Profile `seed` shows guidance by its similarity alone.
        is_similar_only = self.profile.compaction.guidance == "authored" and not order.is_split
        if not self._guides or is_similar_only:
            return (), []
        reading = self._instructions.read(order.scope, general=not order.is_split)
        return await attempt(reading, order.deadline, [], "standing instructions cannot be read")

    async def _read_memory(self, order: PromptOrder) -> PromptReading:
        async with asyncio.TaskGroup() as tasks:
            tail = tasks.create_task(self._read_tail(order))
            rules = tasks.create_task(self._read_rules(order))
            recalling = self._recall.find(
                order.scope,
                order.topic,
                order.session,
                room=order.terms.tau,
                deadline=order.deadline,
                shown=lambda: shown_in_time(tail, order),
            )
            recall = tasks.create_task(recalling)
        turns, shown, no_turns = tail.result()
        known, no_rules = rules.result()
        recalled = recall.result()
        return PromptReading(turns, shown, known, recalled, [*no_rules, *no_turns, *recalled.found.degraded])

    async def _read_tail(self, order: PromptOrder) -> SessionReading:
        turns, missing = await self._read_turns(order)
        return SessionReading(turns, find_shown(order.request.messages, turns), missing)

    async def _read_turns(self, order: PromptOrder) -> tuple[list[Turn], list[str]]:
        scope, session = order.scope, order.session
        # What was said just now must not be given up for what was said before.
        patience_s = order.deadline.seconds_left() / 4
        try:
            answer = await hedge(
                lambda: self._turns.read_accepted(scope, session, patience_s),
                lambda: self._turns.read_all_stored(scope, session),
                order.deadline,
            )
        except LithifyError as error:
            return [], [f"the recent turns cannot be read: {error}"]
        turns, missing = answer.value
        if answer.failure is None:
            return turns, list(missing)
        return turns, [f"the very newest turns may be missing: {answer.failure}"]

    async def _read_rules(self, order: PromptOrder) -> tuple[Rules, list[str]]:
        """Reads the rules; a hard rule binds even while its source is away or slow."""
        if self._rules is None:
            return NO_RULES, []
        try:
            return await finish_by(self._rules.rules(order.scope), order.deadline), []
        except LithifyError as error:
            last = self._rules.last_read(order.scope)
            if last is not None:
                return last, [f"the rules are those last read: {error}"]
            return NO_RULES, [f"the rules cannot be read: {error}"]

    async def _compose(self, order: PromptOrder, reading: PromptReading) -> BuiltContext:
        shown = reading.shown
        found = leave_out_shown(reading.recalled.found, shown)
        if not self._guides:
            found = replace(found, candidates=[c for c in found.candidates if c.kind is not Kind.GUIDANCE])
        uses, uncounted = await self._read_uses(order, found)
        ingredients = Ingredients(
            query=order.topic,
            user=order.scope.user or "",
            session=order.session,
            turns=[turn for turn in reading.turns if turn.id not in shown.ids],
            hard=reading.rules.hard,
            soft=reading.rules.soft,
            candidates=self._links.resolve_targets(order.scope, add_use_counts(found.candidates, uses)),
            sources={key: source_of(memory, key) for key, memory in found.memories.items()},
            max_access=uses.highest,
            general=() if order.is_split else leave_out_told(reading.instructions, shown),
        )
        terms = order.terms
        stable = compose_stable(reading.rules, reading.instructions, terms) if order.is_split else None
        if stable is not None:
            ingredients, terms = leave_to_fresh(ingredients, terms, stable)
        planned, documents = plan_beside(ingredients, terms, reading.documents)
        linked, cosines, unread = await self._read_deeper(order, planned)
        linked = {key: one for key, one in linked.items() if not shown.covers(one.source_turn, one.text)}
        planned, untold = await self._read_summaries(order, planned, found)
        context = compose_context(planned, linked, cosines)
        reasons = [*(stable.reasons if stable else ()), *context.reasons]
        return BuiltContext(
            query=order.topic,
            context=context,
            degraded=[*reasons, *reading.missing, *uncounted, *unread, *untold, *documents.complaints],
            generation=reading.rules.generation,
            cached=reading.recalled.cached,
            hidden=shown.ids,
            tiers=found.tiers,
            documents=documents,
            stable=stable,
        )

    async def _read_uses(self, order: PromptOrder, found: FoundMemories) -> tuple[Uses, list[str]]:
        ids = [candidate.id for candidate in found.candidates]
        if not ids or not self.profile.authority.frequency:
            return Uses(), []
        reading = self.use_counts.read(order.scope, ids)
        return await attempt(reading, order.deadline, Uses(), "how often memories were used cannot be read")

    async def _read_deeper(
        self, order: PromptOrder, planned: PlannedContext
    ) -> tuple[Mapping[str, Candidate], SlotCosines | None, list[str]]:
        """Reads what only the ranking could ask for: link targets, and the meanings of a question about time."""
        known = {candidate.id: None for candidate in planned.competing}
        targets = [hop.target for hop in planned.hops if hop.target not in known]
        following = self._links.fetch(order.scope, targets, order.session, self.profile)
        linked, no_links = await attempt(following, order.deadline, {}, "linked memories cannot be read")
        comparing = self._slots.read(order.scope, planned.temporal, list(known))
        cosines, no_cosines = await attempt(comparing, order.deadline, None, "events were matched by their words alone")
        return linked, cosines, [*no_links, *no_cosines]

    async def _read_summaries(
        self, order: PromptOrder, planned: PlannedContext, found: FoundMemories
    ) -> tuple[PlannedContext, list[str]]:
        """Adds the summaries of what was found if it will not fit as it is."""
        ranked = {row.candidate.source_turn for row in planned.direct}
        spoken = [one for one in found.memories.values() if one.kind == "turn" and one.event_id in ranked]
        room = planned.fixed.budgets.retrieval(planned.fixed.tail_cost)
        if self.profile.packing == "prefix" or sum(one.token_estimate + MARK_TOKENS for one in spoken) <= room:
            return planned, []
        reading = self._summaries.read(order.scope, spoken, order.session)
        summaries, unread = await attempt(reading, order.deadline, [], "summaries cannot be read")
        return replace(planned, ingredients=replace(planned.ingredients, summaries=summaries)), unread


async def shown_in_time(tail: "asyncio.Task[SessionReading]", order: PromptOrder) -> frozenset[str]:
    """Returns the turns that the prompt will show anyway; none of them if they are slow to come.

    They are left out again before anything is composed; this spares their places in the search.
    """
    await asyncio.wait({tail}, timeout=PATIENCE_S)
    if not has_succeeded(tail):
        return frozenset()
    turns, shown, _ = tail.result()
    left = [turn.id for turn in turns if turn.id not in shown.ids]
    return shown.ids.union(left[-order.terms.profile.tail_turns :])


def first_cause(error: Exception) -> Exception:
    """Returns what went wrong first, where several parts were at work."""
    return first_cause(error.exceptions[0]) if isinstance(error, ExceptionGroup) else error


def add_use_counts(candidates: Sequence[Candidate], uses: Uses) -> list[Candidate]:
    return [replace(c, access_count=float(uses.counts[c.id])) if c.id in uses.counts else c for c in candidates]


def leave_out_told(instructions: Sequence[Candidate], shown: ShownTurns) -> list[Candidate]:
    """Returns what the host does not show itself, newest first."""
    return [one for one in reversed(instructions) if not shown.covers(one.source_turn, one.text)]


def leave_out_shown(found: FoundMemories, shown: ShownTurns) -> FoundMemories:
    """Leaves out what the host shows itself, and summaries of nothing else; recalling it would say everything twice."""
    kept = [
        candidate
        for candidate in found.candidates
        if not shown.covers(candidate.source_turn, candidate.text)
        and not shown.covers_all(found.memories[candidate.id].source_ids)
    ]
    return replace(found, candidates=kept)
