"""Writes the best summary of one cluster that is both faithful and shorter than its turns (spec 05 §3-8)."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from lithify.memory.bounds import clamp01, is_number
from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.extractive import extract
from lithify.memory.compaction.limits import LADDER_STEPS, SEED_COMPACTION, CompactionLimits, LadderSteps
from lithify.memory.compaction.preservation import EXTRACTIVE, Preservation, final_confidence, measure, preserves
from lithify.memory.compaction.sanitiser import sanitise
from lithify.memory.compaction.summary import SummaryRecord
from lithify.memory.tokens import estimate_tokens
from lithify.memory.turn import Turn
from lithify.memory.vectors.background import USUAL

Embed = Callable[[Sequence[str]], Vectors]
IsCancelled = Callable[[], bool]


def never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class WrittenText:
    text: str
    confidence: float


class Abstractive(Protocol):
    """A backend that writes text of its own."""

    @property
    def method(self) -> str: ...

    @property
    def ready(self) -> bool: ...

    def fits(self, texts: Sequence[str]) -> bool:
        """Says whether the tokenised input stays inside the model's context."""
        ...

    def write(self, texts: Sequence[str], max_tokens: int, is_cancelled: IsCancelled = never) -> WrittenText:
        """Raises rather than returning nothing, and stops between decoding steps once cancelled.

        Cancellation must raise a `BaseException`, because an ordinary one only costs this attempt.
        """
        ...


@dataclass(frozen=True, slots=True)
class PriorContext:
    """Holds what earlier summaries said, for an abstractive summariser to read before its cluster (spec 05 §3)."""

    text: str = ""
    summary_ids: tuple[str, ...] = ()
    tokens: int = 0

    def prepend_to(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Returns the texts with this context as a made-up first turn."""
        return (self.text, *texts) if self.text else tuple(texts)


NO_PRIOR = PriorContext()


@dataclass(frozen=True, slots=True)
class Draft:
    text: str
    method: str
    measured: Preservation
    confidence: float
    conf_decoder: float | None = None  # kept when the gate turned the decoder's text down
    prior: PriorContext = NO_PRIOR


@dataclass(frozen=True, slots=True)
class DraftOutcome:
    """Holds the first draft that shrinks its sources, or none; with everything that went wrong on the way."""

    draft: Draft | None
    errors: tuple[Exception, ...] = ()


@dataclass(frozen=True, slots=True)
class Rung:
    """One attempt of the ladder: every further one is shorter (spec 05 §8)."""

    abstractive: bool
    max_tokens: int
    density: float


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """One cluster as every attempt sees it; `turns` are the vectors of the texts as stored."""

    texts: tuple[str, ...]
    vectors: Vectors
    turns: Vectors
    prior: PriorContext
    embed: Embed
    is_cancelled: IsCancelled
    limits: CompactionLimits
    background: float


def draft_cluster(
    turns: Sequence[Turn],
    earlier: Sequence[SummaryRecord],
    embed: Embed,
    abstractive: Abstractive | None = None,
    is_cancelled: IsCancelled = never,
    limits: CompactionLimits = SEED_COMPACTION,
    background: float = USUAL,
) -> DraftOutcome:
    """Drafts a summary of the turns; `earlier` are the session's other summaries, `background` is the model's.

    Raises only when the turns themselves cannot be embedded; a failing summariser costs its attempt.
    """
    source = _read_source(turns, earlier, embed, is_cancelled=is_cancelled, limits=limits, background=background)
    writer = _choose_writer(turns, source, abstractive)
    attempt = partial(_attempt, source, writer)
    return climb(ladder(writer is not None, limits.ladder), attempt, [turn.text for turn in turns])


def wants_abstractive(scores: Iterable[float | None], least: float = SEED_COMPACTION.abstractive_gating) -> bool:
    """Decides by the gating scores whether a cluster deserves an abstractive summary (spec 05 §4)."""
    mean = mean_gating(scores)
    return mean is not None and mean >= least


def mean_gating(scores: Iterable[float | None]) -> float | None:
    """Averages over the turns that have a score; assistant turns have none and must not pull the mean down (X08)."""
    numbers = [score for score in scores if score is not None and is_number(score)]
    return clamp01(math.fsum(numbers) / len(numbers)) if numbers else None


def prior_context(
    summaries: Iterable[SummaryRecord], first_ts: float, cap: int = SEED_COMPACTION.prior_tokens
) -> PriorContext:
    """Takes the newest earlier summaries that fit, skipping those that do not, in the order of what they cover."""
    # What a summary covers decides, not when it was written (X66).
    earlier = [summary for summary in summaries if summary.lineage.source_ts_max < first_ts]
    earlier.sort(key=lambda summary: (summary.lineage.source_ts_max, summary.id))
    chosen: list[SummaryRecord] = []
    tokens = 0
    for summary in reversed(earlier):
        cost = estimate_tokens(summary.text)
        if tokens + cost <= cap:
            chosen.insert(0, summary)
            tokens += cost
    text = "\n\n".join(summary.text for summary in chosen)
    return PriorContext(text, tuple(summary.id for summary in chosen), tokens)


def ladder(abstractive: bool, steps: LadderSteps = LADDER_STEPS) -> tuple[Rung, ...]:
    """Returns the attempts in order; an abstractive one falls back to the shortest extract."""
    rungs = (
        Rung(abstractive, steps.first_tokens, steps.density),
        Rung(abstractive, steps.second_tokens, steps.sparse_density),
    )
    return (*rungs, Rung(False, steps.last_tokens, steps.sparse_density)) if abstractive else rungs


def climb(rungs: Iterable[Rung], attempt: Callable[[Rung], Draft], sources: Iterable[str]) -> DraftOutcome:
    """Makes attempts until a draft is cheaper than its sources (spec 05 §8)."""
    originals = tuple(sources)
    errors: list[Exception] = []
    for rung in rungs:
        try:
            draft = attempt(rung)
        except Exception as error:  # noqa: BLE001 - a failed attempt is a rung missed, not a run lost (X27)
            errors.append(error)
            continue
        if shrinks(draft.text, originals):
            return DraftOutcome(draft, tuple(errors))
    return DraftOutcome(None, tuple(errors))


def shrinks(summary: str, sources: Iterable[str]) -> bool:
    """Compares by the same estimator on both sides (X25); nothing at all is not a summary."""
    if not summary.strip():
        return False
    return estimate_tokens(summary) < sum(map(estimate_tokens, sources))


def _read_source(
    turns: Sequence[Turn],
    earlier: Sequence[SummaryRecord],
    embed: Embed,
    *,
    is_cancelled: IsCancelled,
    limits: CompactionLimits,
    background: float,
) -> _Source:
    originals = tuple(turn.text for turn in turns)
    texts = tuple(map(sanitise, originals))
    stored = embed(originals)
    return _Source(
        texts=texts,
        vectors=stored if texts == originals else embed(texts),
        turns=stored,
        prior=prior_context(earlier, turns[0].ts, limits.prior_tokens),
        embed=embed,
        is_cancelled=is_cancelled,
        limits=limits,
        background=background,
    )


def _choose_writer(turns: Sequence[Turn], source: _Source, abstractive: Abstractive | None) -> Abstractive | None:
    """Returns None for extractive, also when the input would not fit the model (X30)."""
    if abstractive is None or not abstractive.ready:
        return None
    if not wants_abstractive((turn.gating_score for turn in turns), source.limits.abstractive_gating):
        return None
    return abstractive if abstractive.fits(source.prior.prepend_to(source.texts)) else None


def _attempt(source: _Source, writer: Abstractive | None, rung: Rung) -> Draft:
    if writer is None or not rung.abstractive:
        return _extract_draft(source, rung)
    written = writer.write(source.prior.prepend_to(source.texts), rung.max_tokens, source.is_cancelled)
    if not written.text.strip():
        raise ValueError(f"summariser {writer.method} returned no text")
    measured = measure(source.embed([written.text]), source.turns, source.background)
    decoder = clamp01(written.confidence)
    if not preserves(writer.method, measured, source.limits.preserve_align):
        return _extract_draft(source, rung, rejected=decoder)
    return Draft(
        text=written.text,
        method=writer.method,
        measured=measured,
        confidence=final_confidence(writer.method, measured.conf_embed, decoder, source.limits.embed_share),
        conf_decoder=decoder,
        prior=source.prior,
    )


def _extract_draft(source: _Source, rung: Rung, rejected: float | None = None) -> Draft:
    """Makes a draft that is never conditioned on prior context, so it reports none."""
    text = extract(source.texts, source.vectors, rung.density, rung.max_tokens).text
    measured = measure(source.embed([text]), source.turns, source.background)
    return Draft(
        text=text,
        method=EXTRACTIVE,
        measured=measured,
        confidence=final_confidence(EXTRACTIVE, measured.conf_embed),
        conf_decoder=rejected,
    )
