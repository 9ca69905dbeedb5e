"""Fetches what may answer a question: two search legs, then the turns around their best hits."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lithify.assembly.recall.signals import Asked, bare_signals, passage_signals
from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.candidate import Candidate, read_candidate
from lithify.memory.ranking.passages import ALONE, AROUND, Window
from lithify.memory.ranking.relevance import Signals
from lithify.memory.ranking.scope import Scope
from lithify.memory.ranking.shortlist import shortlist
from lithify.memory.ranking.stand_ins import without_stand_ins
from lithify.memory.vectors.cascade import Cascade, TierTrace
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector
from lithify.store import LEXICAL, TIER_NAMES, Hit, Query, Record, SparseVector, Vector, VectorStore, Where
from lithify.store.cascade import complete_tiers, search_cascade
from lithify.store.memory_record import COLLECTION, MemoryRecord, position_of

DENSE: Final = "dense"
BOTH: Final = frozenset({DENSE, LEXICAL})
# Enough to know where a hit stands: those that matter are read again, with the turns around them.
PLACE_FIELDS: Final = ("kind", "user", "session", "seq")
# Passages are compared in the middle tier: a third of the bytes to read, for about .001 of recall.
PASSAGE_TIER: Final = TIER_NAMES[1]


@dataclass(frozen=True, slots=True)
class Legs:
    """Every hit once, and the score each leg gave it, as the engine counts."""

    hits: dict[str, Hit] = field(default_factory=dict)
    dense: dict[str, float] = field(default_factory=dict)
    lexical: dict[str, float] = field(default_factory=dict)


def dense_query(where: Where, depth: int, vector: Vector, *, places_only: bool) -> Query:
    return Query(where, FULL_TIER, vector, depth, fields=PLACE_FIELDS if places_only else None)


def lexical_query(where: Where, depth: int, words: SparseVector, *, places_only: bool, cosines: bool) -> Query:
    """With `cosines`, a record found by its words brings its full vector along."""
    needed, fields = (FULL_TIER,) if cosines else (), PLACE_FIELDS if places_only else None
    return Query(where, LEXICAL, words, depth, needed, fields=fields)


def read_legs(by_meaning: Iterable[Hit], by_words: Iterable[Hit], vector: Vector | None) -> Legs:
    dense, lexical = {hit.id: hit for hit in by_meaning}, {hit.id: hit for hit in by_words}
    cosines = {key: hit.score for key, hit in dense.items()}
    if vector is not None:
        unscored = (hit for key, hit in lexical.items() if key not in dense and FULL_TIER in hit.vectors)
        cosines.update({hit.id: float(np.dot(hit.vectors[FULL_TIER], vector)) for hit in unscored})
    return Legs(dense | lexical, cosines, {key: hit.score for key, hit in lexical.items()})


async def read_around(
    store: VectorStore,
    scope: TenantScope,
    where: Where,
    hits: Sequence[Hit],
    window: Window,
    passages: int | None,
    tier: str,
) -> list[Record]:
    """The hits, best first, and those neighbours of the first `passages` that `where` allows; each once."""
    names = (tier, LEXICAL)
    positions = positions_around([hit for hit in hits if is_placed(hit)], window, passages)
    alone = [hit.id for hit in hits if not is_placed(hit)]
    records = await store.fetch(scope, COLLECTION, alone, with_vectors=names) if alone else []
    if positions:
        # A position names one turn; a copy that carries it too must not push another turn off the page.
        around, limit = where.equals("kind", "turn").any_of("position", positions), len(positions)
        records += (await store.scroll(scope, COLLECTION, around, limit=limit, with_vectors=names)).records
    return records


def is_placed(hit: Hit) -> bool:
    """Only turns have neighbours: what was promoted, summarised or authored stands alone."""
    return hit.payload["kind"] == "turn" and hit.payload.get("seq") is not None


def positions_around(turns: Sequence[Hit], window: Window, passages: int | None = None) -> list[str]:
    """Of the turns themselves too, sorted, so that the same question is always asked the same way."""
    best = turns if passages is None else turns[:passages]
    alone = {_place_beside(turn, 0) for turn in turns}
    around = {_place_beside(turn, distance) for turn in best for distance in window.shares}
    return [position_of(*place) for place in sorted(alone | around)]


def _place_beside(turn: Hit, distance: int) -> tuple[str, str, int]:
    return turn.payload["user"], turn.payload["session"], turn.payload["seq"] + distance


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where, and how closely: each step looks at fewer records than the one before."""

    text: str
    where: Where
    session: str | None
    depth: int  # hits each leg may give
    shortlist: int  # of these, the best by both legs; nothing else but their neighbours competes
    legs: frozenset[str] = BOTH
    dense_by_maximum: bool = True
    window: Window = AROUND
    passages: int | None = None  # of the shortlist, those judged with the turns around them; None means all

    @property
    def wants_passages(self) -> bool:
        """A single leg is asked for as the bare measure it is, and so is a bare cosine (profile `seed`)."""
        return self.dense_by_maximum and self.legs == BOTH and bool(self.window.shares)


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates with their signals, their records, and which legs could not be asked."""

    candidates: list[Candidate] = field(default_factory=list)
    memories: dict[str, MemoryRecord] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    tiers: list[TierTrace] = field(default_factory=list)  # which prefixes were searched, where a cascade is


@dataclass(frozen=True, slots=True)
class Retriever:
    """With a `cascade`, short prefixes of the vectors are searched before whole ones."""

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor
    cascade: Cascade | None = None

    async def retrieve(self, scope: TenantScope, question: Question) -> Found:
        """Never raises for a missing dependency: what could not be asked is named in `degraded`."""
        if not question.text:
            return Found()
        words = self._words(question)
        # The words are looked up while the model computes, which takes longer.
        (vector, degraded), by_words = await asyncio.gather(
            self._embed(question), self._search_words(scope, question, words)
        )
        try:
            legs, tiers = await self._search(scope, question, vector, received(by_words))
        except LithifyError as error:
            return Found(degraded=[*degraded, f"stored memories cannot be read: {error}"])
        try:
            records = await self._look_closer(scope, question, legs)
        except LithifyError as error:
            alone = await self.retrieve(scope, replace(question, window=ALONE))
            return replace(
                alone, degraded=[*alone.degraded, f"the turns around what was found cannot be read: {error}"]
            )
        asked = self._asked(question, words, vector)
        return replace(unite(question, asked, legs, records, degraded), tiers=tiers)

    async def _search(
        self, scope: TenantScope, question: Question, vector: Vector | None, by_words: Sequence[Hit]
    ) -> tuple[Legs, list[TierTrace]]:
        if vector is None:
            return read_legs([], by_words, None), []
        if self.cascade is None:
            query = dense_query(question.where, question.depth, vector, places_only=question.wants_passages)
            [by_meaning] = await self.store.query_batch(scope, COLLECTION, [query])
            return read_legs(by_meaning, by_words, vector), []
        usable = await complete_tiers(self.store, scope, COLLECTION, question.where, self.cascade)
        answer = await search_cascade(
            self.store, scope, COLLECTION, question.where, vector, question.depth, self.cascade, usable
        )
        return read_legs(answer.hits, by_words, vector), answer.trace

    async def _search_words(
        self, scope: TenantScope, question: Question, words: SparseVector | None
    ) -> list[Hit] | LithifyError:
        if words is None or not words.indices:
            return []
        query = lexical_query(
            question.where,
            question.depth,
            words,
            places_only=question.wants_passages,
            cosines=DENSE in question.legs and not question.wants_passages,
        )
        try:
            [hits] = await self.store.query_batch(scope, COLLECTION, [query])
        except LithifyError as error:
            return error
        return hits

    async def _embed(self, question: Question) -> tuple[npt.NDArray[np.float64] | None, list[str]]:
        if DENSE not in question.legs:
            return None, []
        loop = asyncio.get_running_loop()
        try:
            vector = await loop.run_in_executor(self.executor, self.embedder.embed_query, question.text)
        except Exception as error:  # noqa: BLE001 - whatever the runtime throws, lexical search still answers
            return None, [f"the query cannot be embedded: {error}"]
        return tier_vector(vector, self.embedder.manifest.dimensions), []

    def _words(self, question: Question) -> SparseVector | None:
        if LEXICAL not in question.legs:
            return None
        indices, values = self.analyser.query_vector(question.text)
        return SparseVector(tuple(indices), tuple(values))

    async def _look_closer(self, scope: TenantScope, question: Question, legs: Legs) -> list[Record]:
        if not question.wants_passages:
            return []
        chosen = shortlist(legs.dense, legs.lexical, question.shortlist)
        hits = [legs.hits[key] for key in chosen]
        reading = read_around(self.store, scope, question.where, hits, question.window, question.passages, self._tier)
        return await reading

    def _asked(self, question: Question, words: SparseVector | None, vector: npt.NDArray[np.float64] | None) -> Asked:
        tiers = self.embedder.manifest.tiers
        short = vector if vector is None or not tiers else tier_vector(vector, tiers[1])
        return Asked(question.text, words.indices if words else (), self._tier, short)

    @property
    def _tier(self) -> str:
        """A model that was not trained for prefixes has the full vector only."""
        return PASSAGE_TIER if self.embedder.manifest.tiers else FULL_TIER


def received(hits: list[Hit] | LithifyError) -> list[Hit]:
    if isinstance(hits, LithifyError):
        raise hits
    return hits


def unite(question: Question, asked: Asked, legs: Legs, records: Sequence[Record], degraded: list[str]) -> Found:
    """The records that were read with their neighbours, judged with them; or else the bare hits."""
    payloads = {item.id: item.payload for item in (records if question.wants_passages else legs.hits.values())}
    memories = {key: MemoryRecord.from_payload(payload) for key, payload in payloads.items()}
    if question.wants_passages:
        signals = as_said(passage_signals(asked, records, list(memories.values()), question.window), memories)
    else:
        signals = bare_signals(legs.dense, legs.lexical, by_best=question.dense_by_maximum)
    standing = {key: memory for key, memory in memories.items() if memory.active or memory.kind == "turn"}
    candidates = [candidate_of(key, payloads[key], memory, question, signals[key]) for key, memory in standing.items()]
    covered = {key: memory.source_ids for key, memory in standing.items()}
    return Found(without_stand_ins(candidates, covered), standing, degraded)


def as_said(judged: Mapping[str, Signals], memories: Mapping[str, MemoryRecord]) -> dict[str, Signals]:
    """A copy of a turn, as durable memory or guidance, answers as well as the turn in its conversation does."""
    said = {memories[key].event_id: signals for key, signals in judged.items() if memories[key].kind == "turn"}
    return {key: said.get(memories[key].event_id, signals) for key, signals in judged.items()}


def candidate_of(
    key: str, payload: Mapping[str, Any], memory: MemoryRecord, question: Question, signals: Signals
) -> Candidate:
    # The host's own id of the turn, shared by all copies made of it.
    stored = {**payload, "source_turn": memory.event_id}
    return read_candidate(key, scope_of(memory, question.session), stored, signals)


def scope_of(memory: MemoryRecord, session: str | None) -> Scope:
    """A session's own records, the user's other sessions, then what was promoted or shared (spec 01 §3)."""
    if memory.scope != Scope.SESSION:
        return Scope(memory.scope)
    return Scope.SESSION if memory.session == session else Scope.HISTORY
