"""Writes the best summary of one cluster that is both faithful and shorter than its turns (spec 05 §3-8)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from lithify.memory.bounds import clamp01
from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.extractive import extract
from lithify.memory.compaction.ladder import Climb, Rung, climb, rungs
from lithify.memory.compaction.preservation import EXTRACTIVE, Preservation, final_confidence, measure, preserves
from lithify.memory.compaction.prior_context import NO_PRIOR, PriorContext, prior_context
from lithify.memory.compaction.sanitiser import sanitise
from lithify.memory.compaction.summariser_choice import wants_abstractive
from lithify.memory.compaction.summary_record import SummaryRecord
from lithify.memory.turn import Turn

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Written:
    text: str
    confidence: float


class Abstractive(Protocol):
    """A backend that writes text of its own.

    `write` raises rather than returning nothing, and stops between decoding steps when cancelled; cancellation
    must be a `BaseException`, because an ordinary one only costs this attempt.
    """

    @property
    def method(self) -> str: ...

    @property
    def ready(self) -> bool: ...

    def fits(self, texts: Sequence[str]) -> bool:
        """Whether the tokenised input stays inside the model's context."""
        ...

    def write(self, texts: Sequence[str], max_tokens: int) -> Written: ...


@dataclass(frozen=True, slots=True)
class Draft:
    text: str
    method: str
    measured: Preservation
    confidence: float
    conf_decoder: float | None = None  # kept when the gate turned the decoder's text down
    prior: PriorContext = NO_PRIOR


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """One cluster as every attempt sees it; `turns` are the vectors of the texts as stored."""

    texts: tuple[str, ...]
    vectors: Vectors
    turns: Vectors
    prior: PriorContext
    embed: Embed


def draft_cluster(
    turns: Sequence[Turn],
    earlier: Sequence[SummaryRecord],
    embed: Embed,
    abstractive: Abstractive | None = None,
) -> Climb[Draft]:
    """Raises only when the turns themselves cannot be embedded; a failing summariser costs its attempt."""
    source = _source(turns, earlier, embed)
    writer = _chosen_writer(turns, source, abstractive)
    attempt = partial(_attempt, source, writer)
    return climb(rungs(writer is not None), attempt, [turn.text for turn in turns])


def _source(turns: Sequence[Turn], earlier: Sequence[SummaryRecord], embed: Embed) -> _Source:
    originals = tuple(turn.text for turn in turns)
    texts = tuple(map(sanitise, originals))
    stored = embed(originals)
    vectors = stored if texts == originals else embed(texts)
    return _Source(texts, vectors, stored, prior_context(earlier, turns[0].ts), embed)


def _chosen_writer(turns: Sequence[Turn], source: _Source, abstractive: Abstractive | None) -> Abstractive | None:
    """None means extractive, also when the input would not fit the model (X30)."""
    if abstractive is None or not abstractive.ready:
        return None
    if not wants_abstractive(turn.gating_score for turn in turns):
        return None
    return abstractive if abstractive.fits(source.prior.before(source.texts)) else None


def _attempt(source: _Source, writer: Abstractive | None, rung: Rung) -> Draft:
    if writer is None or not rung.abstractive:
        return _extracted(source, rung)
    written = writer.write(source.prior.before(source.texts), rung.max_tokens)
    if not written.text.strip():
        raise ValueError(f"summariser {writer.method} returned no text")
    measured = measure(source.embed([written.text]), source.turns)
    decoder = clamp01(written.confidence)
    if not preserves(writer.method, measured):
        return _extracted(source, rung, rejected=decoder)
    confidence = final_confidence(writer.method, measured.conf_embed, decoder)
    return Draft(written.text, writer.method, measured, confidence, decoder, source.prior)


def _extracted(source: _Source, rung: Rung, rejected: float | None = None) -> Draft:
    """Never conditioned on prior context, so it reports none."""
    text = extract(source.texts, source.vectors, rung.density, rung.max_tokens).text
    measured = measure(source.embed([text]), source.turns)
    return Draft(text, EXTRACTIVE, measured, final_confidence(EXTRACTIVE, measured.conf_embed), rejected)
