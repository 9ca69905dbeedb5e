"""Measures what each part of the search is worth, by leaving it out: in the process, on an ingested work folder."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lithify.evaluation.answers import LIMIT, Journal, RankedTurns, RecordedAnswer
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.inside import IngestedMemory, SharedRetrieval, name_of, open_ingested
from lithify.evaluation.metrics import Scores, mean_scores
from lithify.evaluation.selector import SelectorGain, measure_selector
from lithify.evaluation.workplace import Workplace, find_workplace
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.fusion import RankedHit, fuse_ranks
from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import NO_RENEWAL, SEED, Profile
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

# The values of the public ablations in which they did harm.
MMR_LAMBDA: Final = 0.75
HALF_LIFE_DAYS: Final = 30.0
FULL_PRECISION: Final = "fp32"


@dataclass(frozen=True, slots=True)
class Variant:
    """Other parameters on the same memory.

    `fused` merges the two legs by rank instead of mixing their scores, `tiered` searches short prefixes first.
    """

    name: str
    profile: Profile
    fused: bool = False
    tiered: bool = False


def make_variants(base: Profile) -> Iterator[Variant]:
    """Yields the profile as it is, without each of its signals, and with what is left out of it."""
    yield Variant(f"profile {base.name}", base)
    for signal, weight in zip(base.relevance._fields, base.relevance, strict=True):
        if weight > 0.0:
            yield Variant(f"without {signal}", drop_signal(base, signal))
    alone = replace(base, window=ALONE)
    yield Variant("without the turns around a hit", alone)
    yield Variant("without the newer hit first", replace(base, renewal=NO_RENEWAL))
    yield Variant(f"with MMR, λ = {MMR_LAMBDA}", replace(base, mmr_lambda=MMR_LAMBDA))
    decayed = replace(base, decay_half_life_days=HALF_LIFE_DAYS)
    yield Variant(f"with decay, half-life {HALF_LIFE_DAYS:.0f} days", decayed)
    yield Variant("lexical and dense fused by rank (RRF)", alone, fused=True)
    yield Variant(f"profile {SEED.name}", SEED)
    yield Variant("cascade of prefix tiers instead of whole vectors", base, tiered=True)


def drop_signal(base: Profile, signal: str) -> Profile:
    """Leaves one signal out; the others keep their proportions."""
    return replace(base, relevance=base.relevance._replace(**{signal: 0.0}).normalise())


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
    """One model to measure on one data set, with its other precision where `precise` says so."""

    dataset: Dataset
    settings: Settings
    folder: Path
    precise: bool = False

    @property
    def memories(self) -> list[Settings]:
        """Returns the settings of every memory that is needed, the one for all variants first."""
        is_extra = self.precise and self.settings.embedding_variant != FULL_PRECISION
        extra = self.settings.model_copy(update={"embedding_variant": FULL_PRECISION})
        return [self.settings, extra] if is_extra else [self.settings]

    def workplace(self, settings: Settings) -> Workplace:
        return find_workplace(self.folder, self.dataset, settings)


def ablate(plans: Sequence[AblationPlan], base: Profile, progress: Progress) -> list[Ablation]:
    """Ingests what is not there yet and asks what is open; after an interruption neither is done again."""
    found = [asyncio.run(measure_plan(plan, base, progress)) for plan in plans]
    for plan in plans:
        for settings in plan.memories:
            with open_journal(plan.workplace(settings), base) as journal:
                journal.finish()
    return found


async def measure_plan(plan: AblationPlan, base: Profile, progress: Progress) -> Ablation:
    usual, *others = plan.memories
    place = plan.workplace(usual)
    async with open_ingested(plan.dataset, place, usual, progress) as memory:
        asked = [variant for variant in make_variants(base) if memory.cascade or not variant.tiered]
        with open_journal(place, base) as journal:
            rows = await measure_variants(memory, plan.dataset, asked=asked, journal=journal, progress=progress)
        chosen = await measure_selector(memory.retriever, plan.dataset, base)
    for other in others:
        place = plan.workplace(other)
        variant = Variant(f"weights {FULL_PRECISION} instead of int8", base)
        async with open_ingested(plan.dataset, place, other, progress) as memory:
            with open_journal(place, base) as journal:
                rows += await measure_variants(
                    memory, plan.dataset, asked=[variant], journal=journal, progress=progress
                )
    return Ablation(plan.dataset, f"{usual.embedding_profile} {usual.embedding_variant}", tuple(rows), tuple(chosen))


def open_journal(place: Workplace, base: Profile) -> Journal:
    return Journal(place.journal(f"ablation-{base.digest()[:12]}"))


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
