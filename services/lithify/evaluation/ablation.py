"""Measures what each part of the search is worth, by leaving it out: in the process, on an ingested work folder."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lithify.evaluation.answers import Answer, Journal, Ranking
from lithify.evaluation.asking import LIMIT
from lithify.evaluation.datasets import Dataset, Question
from lithify.evaluation.ingestion import Progress
from lithify.evaluation.inside import Opened, Sitting, name_of, opened
from lithify.evaluation.metrics import Scores, mean_scores
from lithify.evaluation.selector import Selection, selections
from lithify.evaluation.variants import Variant, variants
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.fusion import RankedHit, fuse_ranks
from lithify.memory.ranking.profile import Profile
from lithify.settings import Settings

FULL_PRECISION: Final = "fp32"


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Ablation:
    """All figures of one model on one data set; the rows begin with the unchanged profile."""

    dataset: Dataset
    model: str
    rows: tuple[Row, ...]
    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One model to measure on one data set, with its other precision where `precise` says so."""

    dataset: Dataset
    settings: Settings
    folder: Path
    precise: bool = False

    @property
    def memories(self) -> list[Settings]:
        """Settings of every memory that is needed, the one for all variants first."""
        is_extra = self.precise and self.settings.embedding_variant != FULL_PRECISION
        extra = self.settings.model_copy(update={"embedding_variant": FULL_PRECISION})
        return [self.settings, extra] if is_extra else [self.settings]

    def workplace(self, settings: Settings) -> Workplace:
        """Every data set, model and precision has vectors of its own."""
        name = f"{settings.embedding_profile}-{settings.embedding_variant}"
        return Workplace(self.folder / self.dataset.sha256[:12] / name, self.dataset)


def ablate(plans: Sequence[Plan], base: Profile, progress: Progress) -> list[Ablation]:
    """Ingests what is not there yet and asks what is open; after an interruption neither is done again."""
    found = [asyncio.run(measured(plan, base, progress)) for plan in plans]
    for plan in plans:
        for settings in plan.memories:
            with journal_of(plan.workplace(settings), base) as journal:
                journal.finish()
    return found


async def measured(plan: Plan, base: Profile, progress: Progress) -> Ablation:
    usual, *others = plan.memories
    place = plan.workplace(usual)
    async with opened(plan.dataset, place, usual, progress) as memory:
        asked = [variant for variant in variants(base) if memory.cascade or not variant.tiered]
        with journal_of(place, base) as journal:
            rows = await measured_rows(memory, plan.dataset, asked, journal, progress)
        chosen = await selections(memory.retriever, plan.dataset, base)
    for other in others:
        place, variant = plan.workplace(other), Variant(f"weights {FULL_PRECISION} instead of int8", base)
        async with opened(plan.dataset, place, other, progress) as memory:
            with journal_of(place, base) as journal:
                rows += await measured_rows(memory, plan.dataset, [variant], journal, progress)
    return Ablation(plan.dataset, f"{usual.embedding_profile} {usual.embedding_variant}", tuple(rows), tuple(chosen))


def journal_of(place: Workplace, base: Profile) -> Journal:
    return Journal(place.journal(f"ablation-{base.digest()[:12]}"))


async def measured_rows(
    memory: Opened, dataset: Dataset, asked: Sequence[Variant], journal: Journal, progress: Progress
) -> list[Row]:
    """Question by question, so that variants of the same question share what was retrieved for it."""
    names = {variant.name for variant in asked}
    for number, question in enumerate(dataset.questions, 1):
        known = journal.answers.get(question.id)
        if known is None or known.rankings.keys() != names:
            sitting = Sitting(question)
            rankings = {variant.name: await ranked_by(variant, memory, sitting) for variant in asked}
            journal.add(Answer(question=question.id, rankings=rankings, packed={}))
        progress(f"{memory.retriever.embedder.manifest.name}: questions", number, len(dataset.questions))
    return [judged_row(variant.name, dataset.questions, journal.answers) for variant in asked]


async def ranked_by(variant: Variant, memory: Opened, sitting: Sitting) -> Ranking:
    started = time.perf_counter()
    if variant.fused:
        turns = fused(await sitting.candidates(memory.retriever, variant.profile))
    else:
        retriever = memory.by_tiers if variant.tiered else memory.retriever
        turns = await sitting.search(retriever, variant.profile)
    return Ranking(turns=turns, ms=1000 * (time.perf_counter() - started))


def fused(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """By their places in the order of words and in that of meaning; a record without any of the words has none."""
    lexical = [
        RankedHit(name_of(candidate), candidate.signals.lexical)
        for candidate in candidates
        if candidate.signals.lexical
    ]
    dense = [RankedHit(name_of(candidate), candidate.signals.dense) for candidate in candidates]
    return tuple(row.key for row in fuse_ranks(lexical, dense, LIMIT))


def judged_row(name: str, questions: Iterable[Question], answers: Mapping[str, Answer]) -> Row:
    judged = [question for question in questions if question.evidence]
    return Row(name, mean_scores([(answers[q.id].rankings[name].turns, q.evidence) for q in judged]))
