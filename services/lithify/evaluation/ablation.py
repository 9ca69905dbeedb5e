"""Measures what each part of the search is worth, by leaving it out: in the process, on an ingested work folder."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from lithify.assembly.retrieval import Retriever
from lithify.assembly.schema import SearchRequest
from lithify.assembly.search import search
from lithify.evaluation import asking
from lithify.evaluation.asking import LIMIT, Mode, names_of
from lithify.evaluation.datasets import Dataset, Question
from lithify.evaluation.ingestion import Progress
from lithify.evaluation.metrics import Scores, mean_scores
from lithify.evaluation.run import ensure_ingested, running_node
from lithify.evaluation.variants import NodeVariant, ScoringVariant, node_variants, scoring_variants
from lithify.evaluation.workplace import Workplace
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.memory.ranking.fusion import Hit, fuse_ranks
from lithify.memory.ranking.profile import Profile
from lithify.node.parts import open_model, open_store
from lithify.settings import Settings

LEGS: Final[tuple[Mode, ...]] = ("lexical", "dense")
# Rank fusion is fair only to lists that are longer than what is cut from them.
FUSED_DEPTH: Final = 5 * LIMIT

Rankings = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    scores: Scores


def ablate(
    dataset: Dataset, workplace: Workplace, settings: Settings, base: Profile, progress: Progress
) -> Iterator[Row]:
    """One row per variant, the unchanged profile first; ingests what is not there yet."""
    if not workplace.is_ingested:
        with running_node(workplace, settings) as memory:
            ensure_ingested(memory, dataset, workplace, progress)
    inside = settings.model_copy(update={"data_dir": workplace.data_dir})
    yield from asyncio.run(scoring_rows(dataset, inside, base, progress))
    for variant in node_variants():
        yield judged_row(variant.name, dataset, asked_node(dataset, workplace, settings, variant, progress))


async def scoring_rows(dataset: Dataset, settings: Settings, base: Profile, progress: Progress) -> list[Row]:
    """All on one opened store; no node may be running on the folder."""
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        store = await open_store(settings, model.embedder, stack)
        retriever = Retriever(store, model.embedder, model.analyser, model.executor)
        return [
            judged_row(variant.name, dataset, await asked_inside(retriever, dataset, variant, progress))
            for variant in scoring_variants(base)
        ]


async def asked_inside(retriever: Retriever, dataset: Dataset, variant: ScoringVariant, progress: Progress) -> Rankings:
    ask = fused if variant.fused else hybrid
    rankings = []
    for number, question in enumerate(dataset.questions, 1):
        rankings.append(await ask(retriever, question, variant.profile))
        progress(variant.name, number, len(dataset.questions))
    return rankings


async def hybrid(retriever: Retriever, question: Question, profile: Profile) -> tuple[str, ...]:
    return await searched(retriever, question, profile, "hybrid", LIMIT)


async def fused(retriever: Retriever, question: Question, profile: Profile) -> tuple[str, ...]:
    lexical, dense = [by_place(await searched(retriever, question, profile, mode, FUSED_DEPTH)) for mode in LEGS]
    return tuple(row.key for row in fuse_ranks(lexical, dense, LIMIT))


def by_place(names: Sequence[str]) -> list[Hit]:
    return [Hit(name, -float(place)) for place, name in enumerate(names)]


async def searched(
    retriever: Retriever, question: Question, profile: Profile, mode: Mode, limit: int
) -> tuple[str, ...]:
    user = question.conversation
    request = SearchRequest(query=question.text, user=user, mode=mode, limit=limit, now=question.now)
    scope = TenantScope(DEFAULT_TENANT, user, shared=True)
    result = await search(retriever, scope, request, profile, question.now)
    return tuple(hit.event_id or hit.id for hit in result.hits)


def asked_node(
    dataset: Dataset, workplace: Workplace, settings: Settings, variant: NodeVariant, progress: Progress
) -> Rankings:
    place = workplace if variant.folder is None else Workplace(workplace.folder / variant.folder, dataset)
    rankings = []
    with running_node(place, settings, variant.settings) as memory:
        ensure_ingested(memory, dataset, place, progress)
        for number, question in enumerate(dataset.questions, 1):
            rankings.append(names_of(asking.search(memory, question).hits))
            progress(variant.name, number, len(dataset.questions))
    return rankings


def judged_row(name: str, dataset: Dataset, rankings: Rankings) -> Row:
    pairs = zip(rankings, dataset.questions, strict=True)
    return Row(name, mean_scores([(ranked, question.evidence) for ranked, question in pairs if question.evidence]))
