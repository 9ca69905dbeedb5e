"""Fetches what may answer a question: two search legs in one round trip, then the turns around their best hits."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lithify.assembly.legs import BOTH, DENSE, FULL_TIER, Legs, leg_queries, read_legs
from lithify.assembly.neighbourhood import read_around
from lithify.assembly.signals import Asked, bare_signals, passage_signals
from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.candidate import Candidate, Signals, read_candidate
from lithify.memory.ranking.passages import AROUND, Window
from lithify.memory.ranking.scope import Scope
from lithify.memory.ranking.shortlist import shortlist
from lithify.memory.ranking.stand_ins import without_stand_ins
from lithify.memory.vectors.cascade import Cascade, TierTrace
from lithify.memory.vectors.tiers import tier_vector
from lithify.store import LEXICAL, TIER_NAMES, Hit, Query, Record, SparseVector, VectorStore, Where
from lithify.store.cascade import complete_tiers, search_cascade
from lithify.store.memory import COLLECTION, Memory

# Passages are compared in the middle tier: a third of the bytes to read, for about .001 of recall.
PASSAGE_TIER: Final = TIER_NAMES[1]
# Of the hits a leg may give, as many are read again with the turns around them, and nothing else is a candidate: with
# their neighbours they are more than anybody asks for. Twice as many gain .002 of recall.
SHORTLIST_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where, and how many answers each leg may give."""

    text: str
    where: Where
    session: str | None
    depth: int
    legs: frozenset[str] = BOTH
    dense_by_maximum: bool = True
    window: Window = AROUND

    @property
    def wants_passages(self) -> bool:
        """A single leg is asked for as the bare measure it is, and so is a bare cosine (profile `seed`)."""
        return self.dense_by_maximum and self.legs == BOTH and bool(self.window.shares)


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates with their signals, their records, and which legs could not be asked."""

    candidates: list[Candidate] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)
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
        vector, degraded = await self._embed(question)
        words = self._words(question)
        queries = leg_queries(question.where, question.depth, vector, words, cosines=not question.wants_passages)
        if not queries:
            return Found(degraded=degraded)
        try:
            lists, tiers = await self._search(scope, question, queries)
        except LithifyError as error:
            return Found(degraded=[*degraded, f"stored memories cannot be read: {error}"])
        legs = read_legs(queries, lists, vector)
        records, unread = await self._look_closer(scope, question, legs)
        asked = self._asked(question, words, vector)
        return replace(unite(question, asked, legs, records, [*degraded, *unread]), tiers=tiers)

    async def _search(
        self, scope: TenantScope, question: Question, queries: Sequence[Query]
    ) -> tuple[list[list[Hit]], list[TierTrace]]:
        """One list for each query."""
        dense = next((query for query in queries if query.using == FULL_TIER), None)
        if self.cascade is None or dense is None or isinstance(dense.vector, SparseVector):
            return await self.store.query_batch(scope, COLLECTION, queries), []
        usable = await complete_tiers(self.store, scope, COLLECTION, question.where, self.cascade)
        answer = await search_cascade(
            self.store, scope, COLLECTION, question.where, dense.vector, question.depth, self.cascade, usable
        )
        others = [query for query in queries if query is not dense]
        found = await self.store.query_batch(scope, COLLECTION, others) if others else []
        return [answer.hits, *found], answer.trace

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

    async def _look_closer(self, scope: TenantScope, question: Question, legs: Legs) -> tuple[list[Record], list[str]]:
        if not question.wants_passages:
            return [], []
        chosen = shortlist(legs.dense, legs.lexical, int(question.depth * SHORTLIST_SHARE))
        hits = [legs.hits[key] for key in chosen]
        try:
            return await read_around(self.store, scope, question.where, hits, question.window, self._tier), []
        except LithifyError as error:
            return [], [f"the turns around what was found cannot be read: {error}"]

    def _asked(self, question: Question, words: SparseVector | None, vector: npt.NDArray[np.float64] | None) -> Asked:
        tiers = self.embedder.manifest.tiers
        short = vector if vector is None or not tiers else tier_vector(vector, tiers[1])
        return Asked(question.text, words.indices if words else (), self._tier, short)

    @property
    def _tier(self) -> str:
        """A model that was not trained for prefixes has the full vector only."""
        return PASSAGE_TIER if self.embedder.manifest.tiers else FULL_TIER


def unite(question: Question, asked: Asked, legs: Legs, records: Sequence[Record], degraded: list[str]) -> Found:
    """The records that were read with their neighbours, judged with them; without such, the bare hits."""
    payloads = {item.id: item.payload for item in (records or legs.hits.values())}
    memories = {key: Memory.from_payload(payload) for key, payload in payloads.items()}
    if records:
        signals = as_said(passage_signals(asked, records, list(memories.values()), question.window), memories)
    else:
        signals = bare_signals(legs.dense, legs.lexical, by_best=question.dense_by_maximum)
    standing = {key: memory for key, memory in memories.items() if memory.active or memory.kind == "turn"}
    candidates = [candidate_of(key, payloads[key], memory, question, signals[key]) for key, memory in standing.items()]
    covered = {key: memory.source_ids for key, memory in standing.items()}
    return Found(without_stand_ins(candidates, covered), standing, degraded)


def as_said(judged: Mapping[str, Signals], memories: Mapping[str, Memory]) -> dict[str, Signals]:
    """A copy of a turn, as durable memory or guidance, answers as well as the turn in its conversation does."""
    said = {memories[key].event_id: signals for key, signals in judged.items() if memories[key].kind == "turn"}
    return {key: said.get(memories[key].event_id, signals) for key, signals in judged.items()}


def candidate_of(
    key: str, payload: Mapping[str, Any], memory: Memory, question: Question, signals: Signals
) -> Candidate:
    # The host's own id of the turn, shared by all copies made of it.
    stored = {**payload, "source_turn": memory.event_id}
    return read_candidate(key, COLLECTION, scope_of(memory, question.session), stored, signals)


def scope_of(memory: Memory, session: str | None) -> Scope:
    """A session's own records, the user's other sessions, then what was promoted or shared (spec 01 §3)."""
    if memory.scope != Scope.SESSION:
        return Scope(memory.scope)
    return Scope.SESSION if memory.session == session else Scope.HISTORY
