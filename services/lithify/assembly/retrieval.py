"""Fetches what may answer a question: the dense and the lexical leg in one round trip, united by record."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.candidate import Candidate, Signals, read_candidate
from lithify.memory.ranking.relevance import by_maximum
from lithify.memory.ranking.scope import Scope
from lithify.memory.vectors.tiers import tier_vector
from lithify.store import Hit, Query, SparseVector, VectorStore, Where
from lithify.store.memory import COLLECTION, Memory

FULL_TIER = "l3"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where, and how many answers each leg may give."""

    text: str
    where: Where
    session: str | None
    depth: int
    legs: frozenset[str] = frozenset({"dense", "lexical"})
    dense_by_maximum: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """Candidates with their signals, their records, and which legs could not be asked."""

    candidates: list[Candidate] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Retriever:
    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor

    async def retrieve(self, scope: TenantScope, question: Question) -> Found:
        """Never raises for a missing dependency: what could not be asked is named in `degraded`."""
        if not question.text:
            return Found()
        vector, degraded = await self._embed(question)
        queries = self._queries(question, vector)
        if not queries:
            return Found(degraded=degraded)
        try:
            lists = await self.store.query_batch(scope, COLLECTION, queries)
        except LithifyError as error:
            return Found(degraded=[*degraded, f"stored memories cannot be read: {error}"])
        return unite(question, queries, lists, vector, degraded)

    async def _embed(self, question: Question) -> tuple[npt.NDArray[np.float64] | None, list[str]]:
        if "dense" not in question.legs:
            return None, []
        loop = asyncio.get_running_loop()
        try:
            vector = await loop.run_in_executor(self.executor, self.embedder.embed_query, question.text)
        except Exception as error:  # noqa: BLE001 - whatever the runtime throws, lexical search still answers
            return None, [f"the query cannot be embedded: {error}"]
        return tier_vector(vector, self.embedder.manifest.dimensions), []

    def _queries(self, question: Question, vector: npt.NDArray[np.float64] | None) -> list[Query]:
        queries = []
        if vector is not None:
            queries.append(Query(where=question.where, using=FULL_TIER, vector=vector, limit=question.depth))
        indices, values = self.analyser.query_vector(question.text)
        if "lexical" in question.legs and indices:
            sparse = SparseVector(tuple(indices), tuple(values))
            # The full vectors come along, so that a record found by its words gets its cosine too.
            needed = (FULL_TIER,) if vector is not None else ()
            lexical = Query(where=question.where, using="lexical", vector=sparse, limit=question.depth)
            queries.append(replace(lexical, with_vectors=needed))
        return queries


def unite(
    question: Question,
    queries: Sequence[Query],
    lists: Sequence[Sequence[Hit]],
    vector: npt.NDArray[np.float64] | None,
    degraded: list[str],
) -> Found:
    found = {hit.id: hit for hits in lists for hit in hits}
    dense: dict[str, float] = {}
    lexical: dict[str, float] = {}
    for query, hits in zip(queries, lists, strict=True):
        if query.using == FULL_TIER:
            dense |= {hit.id: hit.score for hit in hits}
        else:
            lexical |= dict(
                zip([hit.id for hit in hits], by_maximum([hit.score for hit in hits]).tolist(), strict=True)
            )
            dense |= {hit.id: cosine(hit, vector) for hit in hits if hit.id not in dense}
    if question.dense_by_maximum:
        dense = dict(zip(dense, by_maximum(list(dense.values())).tolist(), strict=True))
    memories = {key: Memory.from_payload(hit.payload) for key, hit in found.items()}
    candidates = [
        read_candidate(
            key,
            COLLECTION,
            scope_of(memories[key], question.session),
            # The host's own id of the turn, shared by all copies made of it.
            {**hit.payload, "source_turn": hit.payload.get("event_id")},
            Signals(dense=dense.get(key, 0.0), lexical=lexical.get(key, 0.0)),
        )
        for key, hit in found.items()
    ]
    return Found(candidates, memories, degraded)


def cosine(hit: Hit, vector: npt.NDArray[np.float64] | None) -> float:
    stored = hit.vectors.get(FULL_TIER)
    return 0.0 if vector is None or stored is None else float(np.dot(stored, vector))


def scope_of(memory: Memory, session: str | None) -> Scope:
    """A session's own records, the user's other sessions, then what was promoted or shared (spec 01 §3)."""
    if memory.scope != Scope.SESSION:
        return Scope(memory.scope)
    return Scope.SESSION if memory.session == session else Scope.HISTORY
