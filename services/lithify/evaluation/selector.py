"""Measures the temporal selector of assembly: the same contexts with and without it, for questions it acts on."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline
from lithify.assembly.prompt.context import Context, PlannedContext, compose_context, plan_context
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.recall.pools import source_of
from lithify.assembly.recall.recall import Recall
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.slot_meanings import SlotMeanings
from lithify.evaluation.answers import session_of
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.inside import refuse_partial, scope_of
from lithify.evaluation.metrics import fraction, mean
from lithify.evaluation.run import DEADLINE_MS
from lithify.memory.prompt.budget import memory_budget
from lithify.memory.ranking.profile import Profile
from lithify.memory.temporal.query import read_guarded_query

# The selector picks three turns at most: it can decide only where few fit.
BUDGETS: Final = (200, 300, 500)


@dataclass(frozen=True, slots=True)
class Shares:
    """Says how much of the evidence a context holds, on average, and in which share of contexts all of it is."""

    fraction: float
    all: float

    @classmethod
    def of(cls, found: Sequence[float]) -> "Shares":
        return cls(mean(found), mean([float(share == 1.0) for share in found]))


@dataclass(frozen=True, slots=True)
class SelectorGain:
    """The questions of one category that pass the guard, under one budget."""

    category: str
    questions: int  # that pass the guard
    of: int
    budget: int
    off: Shares
    on: Shares


async def measure_selector(retriever: Retriever, dataset: Dataset, profile: Profile) -> list[SelectorGain]:
    """Measures by category and budget; a question the guard refuses has one context either way and is left out."""
    pairs: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    for question in dataset.questions:
        if question.evidence and passes_guard(question, profile):
            for budget, shares in (await compare_contexts(retriever, question, profile)).items():
                pairs[question.category, budget].append(shares)
    sizes = Counter(question.category for question in dataset.questions)
    return [make_selection(name, sizes[name], budget, found) for (name, budget), found in sorted(pairs.items())]


def make_selection(category: str, size: int, budget: int, found: Sequence[tuple[float, float]]) -> SelectorGain:
    off, on = (Shares.of(side) for side in zip(*found, strict=True))
    return SelectorGain(category=category, questions=len(found), of=size, budget=budget, off=off, on=on)


def passes_guard(question: EvidenceQuestion, profile: Profile) -> bool:
    return read_guarded_query(question.text, profile).guard.applies


async def compare_contexts(
    retriever: Retriever, question: EvidenceQuestion, profile: Profile
) -> dict[int, tuple[float, float]]:
    """Returns under each budget the shares of the evidence in the context without and with the selector."""
    meanings = SlotMeanings(retriever.store, retriever.embedder, retriever.executor)
    shares = {}
    for budget in BUDGETS:
        terms = Terms(memory_budget(budget, profile), profile, question.now)
        planned = plan_context(await recall_ingredients(retriever, question, terms), terms)
        cosines = await meanings.read(
            scope_of(question), planned.temporal, [candidate.id for candidate in planned.competing]
        )
        plain = compose_context(without_selector(planned))
        selected = compose_context(planned, slot_cosines=cosines)
        shares[budget] = share_of(question, plain), share_of(question, selected)
    return shares


async def recall_ingredients(retriever: Retriever, question: EvidenceQuestion, terms: Terms) -> Ingredients:
    """Finds what assembly has to choose from in a session without turns, rules or links."""
    # Only a profile that keeps sessions apart looks into Redis, for its cache; no connection is made here.
    recall = Recall(retriever, Redis(), terms.profile)
    deadline = Deadline.after(DEADLINE_MS)
    answer = await recall.find(
        scope_of(question), question.text, session_of(question), room=terms.tau, deadline=deadline
    )
    found = refuse_partial(answer.found)
    sources = {key: source_of(memory, key) for key, memory in found.memories.items()}
    return Ingredients(question.text, candidates=found.candidates, sources=sources)


def without_selector(planned: PlannedContext) -> PlannedContext:
    guard = replace(planned.temporal.guard, applies=False)
    return replace(planned, temporal=replace(planned.temporal, guard=guard))


def share_of(question: EvidenceQuestion, context: Context) -> float:
    turns = [item.source_turn for item in context.composition.items if item.source_turn]
    return fraction(turns, question.evidence)
