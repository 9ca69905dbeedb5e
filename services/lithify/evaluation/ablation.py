"""Measures what each part of the search is worth, by leaving it out: in the process, on an ingested work folder."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lithify.evaluation.ablation_variants import MemoryChange, Variant, make_variants
from lithify.evaluation.answers import LIMIT, Journal, RankedTurns, RecordedAnswer, finish_journal
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.inside import IngestedMemory, SharedRetrieval, name_of, open_ingested
from lithify.evaluation.metrics import Scores, mean_scores
from lithify.evaluation.selector import SelectorGain, measure_selector
from lithify.evaluation.workplace import Workplace, find_workplace
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.fusion import RankedHit, fuse_ranks
from lithify.memory.ranking.profile import Profile
from lithify.settings import Settings
from lithify.telemetry.progress import Progress


@dataclass(frozen=True, slots=True)
class VariantScores:
    """What one variant reaches."""

    name: str
    scores: Scores


@dataclass(frozen=True, slots=True)
class Ablation:
    """All figures of one model on one data set; the rows begin with the unchanged profile."""

    dataset: Dataset
    model: str
    rows: tuple[VariantScores, ...]
    selector: tuple[SelectorGain, ...]


@dataclass(frozen=True, slots=True)
class AblationPlan:
    """One model to measure on one data set, and the other memories to measure beside it."""

    dataset: Dataset
    settings: Settings
    folder: Path
    changes: tuple[MemoryChange, ...] = ()

    @property
    def others(self) -> list[tuple[MemoryChange, Settings]]:
        """Returns the changes that change something, each with the settings of its memory."""
        changed = [(change, self.settings.model_copy(update=dict(change.settings))) for change in self.changes]
        return [(change, settings) for change, settings in changed if settings != self.settings]

    @property
    def workplaces(self) -> list[Workplace]:
        """Returns the place of every memory that is needed, the one for all variants first."""
        return [self.workplace, *(self.place_of(change, settings) for change, settings in self.others)]

    @property
    def workplace(self) -> Workplace:
        return find_workplace(self.folder, self.dataset, self.settings)

    def place_of(self, change: MemoryChange, settings: Settings) -> Workplace:
        return find_workplace(self.folder / change.folder, self.dataset, settings)


def ablate(plans: Sequence[AblationPlan], base: Profile, progress: Progress) -> list[Ablation]:
    """Ingests what is not there yet and asks what is open; after an interruption neither is done again."""
    found = [asyncio.run(measure_plan(plan, base, progress)) for plan in plans]
    for plan in plans:
        for place in plan.workplaces:
            finish_journal(answers_file(place, base))
    return found


async def measure_plan(plan: AblationPlan, base: Profile, progress: Progress) -> Ablation:
    place = plan.workplace
    async with open_ingested(plan.dataset, place, plan.settings, progress) as memory:
        asked = [variant for variant in make_variants(base) if memory.cascade or not variant.tiered]
        with Journal(answers_file(place, base)) as journal:
            rows = await measure_variants(memory, plan.dataset, asked=asked, journal=journal, progress=progress)
        chosen = await measure_selector(memory.retriever, plan.dataset, base)
    for change, settings in plan.others:
        rows += await measure_change(plan, change, settings, base, progress)
    model = f"{plan.settings.embedding_profile} {plan.settings.embedding_variant}"
    return Ablation(plan.dataset, model, tuple(rows), tuple(chosen))


async def measure_change(
    plan: AblationPlan, change: MemoryChange, settings: Settings, base: Profile, progress: Progress
) -> list[VariantScores]:
    """Measures the unchanged profile on a memory of its own."""
    place = plan.place_of(change, settings)
    asked = [Variant(change.name, base)]
    async with open_ingested(plan.dataset, place, settings, progress) as memory:
        with Journal(answers_file(place, base)) as journal:
            return await measure_variants(memory, plan.dataset, asked=asked, journal=journal, progress=progress)


def answers_file(place: Workplace, base: Profile) -> Path:
    return place.journal(f"ablation-{base.digest()[:12]}")


async def measure_variants(
    memory: IngestedMemory, dataset: Dataset, asked: Sequence[Variant], journal: Journal, progress: Progress
) -> list[VariantScores]:
    """Asks question by question, so that variants of the same question share what was retrieved for it."""
    names = {variant.name for variant in asked}
    for number, question in enumerate(dataset.questions, 1):
        known = journal.answers.get(question.id)
        if known is None or known.rankings.keys() != names:
            retrieval = SharedRetrieval(question)
            rankings = {variant.name: await rank_by(variant, memory, retrieval) for variant in asked}
            journal.add(RecordedAnswer(question=question.id, rankings=rankings, packed={}))
        progress(f"{memory.retriever.embedder.manifest.name}: questions", number, len(dataset.questions))
    return [score_row(variant.name, dataset.questions, journal.answers) for variant in asked]


async def rank_by(variant: Variant, memory: IngestedMemory, retrieval: SharedRetrieval) -> RankedTurns:
    started = time.perf_counter()
    if variant.fused:
        turns = fuse_legs(await retrieval.candidates(memory.retriever, variant.profile))
    else:
        retriever = memory.by_tiers if variant.tiered else memory.retriever
        turns = await retrieval.search(retriever, variant.profile)
    return RankedTurns(turns=turns, ms=1000 * (time.perf_counter() - started))


def fuse_legs(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Ranks by the places in the order of words and in that of meaning; a record without any of the words has none."""
    lexical = [
        RankedHit(name_of(candidate), candidate.signals.lexical)
        for candidate in candidates
        if candidate.signals.lexical
    ]
    dense = [RankedHit(name_of(candidate), candidate.signals.dense) for candidate in candidates]
    return tuple(row.key for row in fuse_ranks(lexical, dense, LIMIT))


def score_row(name: str, questions: Iterable[EvidenceQuestion], answers: Mapping[str, RecordedAnswer]) -> VariantScores:
    known = [question for question in questions if question.evidence]
    return VariantScores(name, mean_scores([(answers[q.id].rankings[name].turns, q.evidence) for q in known]))
