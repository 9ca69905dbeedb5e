"""Gathers what the calibration learns from: questions asked of their own memory and of others', and of parts of them.

A new user's memory has two turns, an old one's thousands; parts of conversations stand for all sizes between.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

import numpy as np

from lithify.assembly.recall.found import FoundMemories
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import search_query
from lithify.assembly.schema import SearchRequest
from lithify.embedding.relevance_file import FittedData, RelevanceFile
from lithify.errors import Unavailable
from lithify.evaluation.calibration_fit import CalibrationFit, JudgedExample, fit_calibration_across
from lithify.evaluation.datasets import Conversation, Dataset, EvidenceQuestion
from lithify.evaluation.datasets.dataset import spread_evenly
from lithify.evaluation.foreign import ask_elsewhere
from lithify.evaluation.inside import open_ingested, refuse_partial, scope_of
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.candidate import Kind
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION
from lithify.memory.ranking.profile import Profile
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

LIMIT: Final = 8  # what a host asks for; a deeper search would judge the same records alike
MOST_QUESTIONS: Final = 240  # of a data set: more of them change no constant in its second digit
PARTS: Final = (None, 64, 16, 6, 2)  # turns in the memory that is asked; None is all of them
MOST_TOKENS: Final = 500  # that one memory gets of a prompt of 2,000; a longer one is shown as an excerpt
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A question and the memory that it is asked of: a whole conversation, or the named turns of one."""

    question: EvidenceQuestion
    about: str  # the conversation the question is about
    turns: tuple[str, ...] | None


def plan_parts(dataset: Dataset) -> Iterator[AskedPart]:
    """Yields every question in as many ways as there are sizes, of its own memory and of another one each time."""
    random = Random(SEED)  # noqa: S311 - the same parts are drawn every time
    homes = {conversation.id: conversation for conversation in dataset.conversations}
    known = [question for question in dataset.questions if question.evidence]
    for question in spread_evenly(known, MOST_QUESTIONS):
        own = homes[question.conversation]
        others = [conversation for conversation in dataset.conversations if conversation is not own]
        for size in PARTS:
            yield AskedPart(question, own.id, choose_turns(own, size, random, question.evidence))
            if others:
                other = random.choice(others)
                yield AskedPart(ask_elsewhere(question, other), own.id, choose_turns(other, size, random))


def choose_turns(
    conversation: Conversation, size: int | None, random: Random, evidence: frozenset[str] = frozenset()
) -> tuple[str, ...] | None:
    """Draws neighbouring turns; one of the evidence, where there is some, is among them."""
    names = [turn.event_id for turn in conversation.turns]
    if size is None or size >= len(names):
        return None
    wanted = [place for place, name in enumerate(names) if name in evidence]
    centre = random.choice(wanted) if wanted else random.randrange(len(names))
    start = min(max(centre - random.randrange(size), 0), len(names) - size)
    return tuple(names[start : start + size])


async def gather_judged(
    retriever: Retriever, dataset: Dataset, profile: Profile, progress: Progress
) -> list[JudgedExample]:
    """Asks as `search` would; the constants in use have no say in what is found."""
    judging = replace(retriever, calibration=retriever.calibration or WORDS_CALIBRATION)
    parts = list(plan_parts(dataset))
    examples = []
    for number, part in enumerate(parts, 1):
        question = part.question
        query = search_query(SearchRequest(query=question.text, user=question.conversation, limit=LIMIT), profile)
        if part.turns is not None:
            query = replace(query, where=query.where.any_of("event_id", part.turns))
        found = refuse_partial(await judging.retrieve(scope_of(question), query))
        if found.candidates:
            examples.append(make_judged(dataset.name, part, found))
        progress(f"{dataset.name}: questions", number, len(parts))
    return examples


def make_judged(dataset: str, part: AskedPart, found: FoundMemories) -> JudgedExample:
    """Takes turns only: copies of them would count twice. Raises Unavailable for records nobody judged."""
    turns = [candidate for candidate in found.candidates if candidate.kind is Kind.TURN]
    if found.evidence is None:
        raise Unavailable("profile recall judges what it finds; this answer says nothing of the memory")
    return JudgedExample(
        dataset=dataset,
        conversation=part.about,
        is_own=part.question.conversation == part.about,
        memory=found.evidence,
        cosines=np.array([turn.signals.cosine for turn in turns], dtype=np.float64),
        coverage=np.array([turn.signals.coverage for turn in turns], dtype=np.float64),
        is_evidence=np.array([turn.source_turn in part.question.evidence for turn in turns], dtype=np.bool_),
        tokens=np.array([min(found.memories[turn.id].token_estimate, MOST_TOKENS) for turn in turns], dtype=np.float64),
    )


def fit_relevance(
    places: Sequence[tuple[Dataset, Workplace]], settings: Settings, base: Profile, progress: Progress
) -> tuple[CalibrationFit, RelevanceFile]:
    """Ingests what is not there yet, asks and fits; no node may be running on the folders."""

    async def gather(dataset: Dataset, place: Workplace) -> tuple[str, list[JudgedExample]]:
        async with open_ingested(dataset, place, settings, progress) as memory:
            family = memory.retriever.embedder.manifest.family
            return family, await gather_judged(memory.retriever, dataset, base, progress)

    gathered = [asyncio.run(gather(dataset, place)) for dataset, place in places]
    examples = [example for _, rows in gathered for example in rows]
    found = fit_calibration_across(examples)
    return found, RelevanceFile(
        family=gathered[0][0],
        answerable=found.calibration.answerable,
        helpful=found.calibration.helpful,
        data=tuple(describe_data(dataset, examples) for dataset, _ in places),
    )


def describe_data(dataset: Dataset, examples: Sequence[JudgedExample]) -> FittedData:
    asked = [example.is_own for example in examples if example.dataset == dataset.name]
    return FittedData(name=dataset.name, sha256=dataset.sha256, own=sum(asked), foreign=len(asked) - sum(asked))
