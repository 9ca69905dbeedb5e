"""Finds chunks by their words and by their meaning at the same time, and answers with what it could get."""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from lithify.docs.document import Chunk, Lines, RepoDocument
from lithify.docs.query import DocQuery, DocTrace, Leg, LegWeights, PickedChunk, ScoredChunk
from lithify.docs.ranking import apply_decay, fuse_legs, pick_chunks, rank_scores, weigh_legs
from lithify.docs.space import COLLECTION, CorpusState, Space, read_corpus
from lithify.docs.terms import QuestionTerms, read_terms
from lithify.docs.wording import query_vector
from lithify.docs.writing import document_id
from lithify.embedding import Embedder
from lithify.errors import LithifyError, Unavailable
from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.vectors.tiers import FULL_TIER, tier_vector
from lithify.store import LEXICAL, Query, SparseVector, Vector, VectorStore, Where

# Embedding a question takes tens of milliseconds; behind a long batch it may have to wait, but words need not.
PATIENCE_S: Final = 2.0
# Nobody waits for a replay as for an answer, and a list given up for time would make it another one.
REPLAY_PATIENCE_S: Final = 60.0
# Characters of a question that is read at once.
SHORT: Final = 2_048
NO_MODEL: Final = "no embedding model is loaded"
NOT_ASKED: Final = "not asked for"


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DocHit:
    """`lines` are those of the chunk in its file, None if the document is just being written."""

    chunk: Chunk
    lines: Lines | None
    scored: ScoredChunk
    diversity: float | None


@dataclass(frozen=True, slots=True)
class DocResults:
    """Holds hits, best first, with the explanation of the answer."""

    hits: tuple[DocHit, ...]
    trace: DocTrace

    @property
    def degraded(self) -> tuple[str, ...]:
        """Returns why a list that was asked for is absent; empty if the answer is whole."""
        legs = (("words", self.trace.lexical), ("meaning", self.trace.vector))
        return tuple(f"{name}: {leg.absent}" for name, leg in legs if leg.absent not in (None, NOT_ASKED))


@dataclass(frozen=True, slots=True)
class Replay:
    """`same` means the same ids with the same scores; `corpus_same` that no document was written in between."""

    found: DocResults
    same: bool
    corpus_same: bool
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """Holds one list, with the chunks it brought along."""

    leg: Leg
    chunks: Mapping[str, Chunk]
    ms: float
    error: LithifyError | None = None


@dataclass(frozen=True, slots=True)
class DocSearch:
    """Searches the documents of one tenant at a time. Without an embedder, words alone answer."""

    store: VectorStore
    analyser: LexicalAnalyser
    executor: Executor
    space: Space
    embedder: Embedder | None

    async def find(
        self, scope: TenantScope, query: DocQuery, now_ms: int, /, deadline_s: float | None = None
    ) -> DocResults:
        """Finds chunks, best first. The list by meaning is given up at the deadline, or when anything about it fails.

        Raises Unavailable only if no list at all could be had.
        """
        started = time.perf_counter()
        patience = PATIENCE_S if deadline_s is None else deadline_s
        tenant = TenantScope(scope.tenant)
        terms = await _read_apart(query.text, partial(read_terms, query.text, self.analyser))
        lexical, vector, corpus = await asyncio.gather(
            self._by_words(tenant, query, terms), self._by_meaning(tenant, query, patience), self._corpus(tenant)
        )
        chunks = {**vector.chunks, **lexical.chunks}
        failed = lexical.error or vector.error
        if failed is not None and not chunks and (lexical.leg.absent and vector.leg.absent):
            raise failed
        weights = self._weigh(query, terms, lexical.leg, vector.leg)
        ranked = apply_decay(query, fuse_legs(query, lexical.leg, vector.leg, terms, weights), chunks, now_ms)
        final = pick_chunks(query, ranked, lambda ref: chunks[ref].text)
        hits = await self._locate(tenant, final, ranked, chunks)
        timings = {"lexical": lexical.ms, "vector": vector.ms, "total": _since(started)}
        trace = DocTrace(
            query=query,
            now_ms=now_ms,
            corpus=corpus,
            model=self.space.fingerprint,
            lexical=lexical.leg,
            vector=vector.leg,
            fused=ranked,
            final=final,
            timings=timings,
            terms=terms,
            weights=weights,
        )
        return DocResults(hits, trace)

    async def replay(self, scope: TenantScope, trace: DocTrace, /) -> Replay:
        """Asks the same again, as of the same moment. Raises Unavailable."""
        again = await self.find(scope, trace.query, trace.now_ms, deadline_s=REPLAY_PATIENCE_S)
        differences = tuple(list_differences(trace, again.trace))
        corpus_same = trace.corpus.generation == again.trace.corpus.generation
        return Replay(again, not differences, corpus_same, differences)

    def _weigh(self, query: DocQuery, terms: QuestionTerms, lexical: Leg, vector: Leg) -> LegWeights | None:
        if query.fusion != "adaptive":
            return None
        level = 0.0 if self.embedder is None else self.embedder.manifest.background.questions
        return weigh_legs(terms, lexical, vector, level)

    async def _by_words(self, scope: TenantScope, query: DocQuery, terms: QuestionTerms) -> _Answer:
        if query.mode == "dense":
            return _Answer(Leg(absent=NOT_ASKED), {}, 0.0)
        started = time.perf_counter()
        try:
            words = await _read_apart(query.text, partial(query_vector, query.text, self.analyser, terms.exact))
            if not words.indices:
                return _Answer(Leg(), {}, _since(started))
            return await self._ask_list(scope, query, LEXICAL, words, started=started)
        except Unavailable as error:
            return _Answer(Leg(absent=str(error)), {}, _since(started), error)

    async def _by_meaning(self, scope: TenantScope, query: DocQuery, patience_s: float) -> _Answer:
        if query.mode == "lexical":
            return _Answer(Leg(absent=NOT_ASKED), {}, 0.0)
        started = time.perf_counter()
        if self.embedder is None:
            return _Answer(Leg(absent=NO_MODEL), {}, 0.0, Unavailable(NO_MODEL))
        if not query.text.strip():
            return _Answer(Leg(), {}, 0.0)
        try:
            async with asyncio.timeout(patience_s):
                question = partial(_question, query.text, self.embedder)
                vector = await asyncio.get_running_loop().run_in_executor(self.executor, question)
                return await self._ask_list(scope, query, FULL_TIER, vector, started=started)
        except TimeoutError:
            reason = f"the model did not answer in {patience_s:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a model throws, words can still answer
            reason = f"{type(error).__name__}: {error}"
        return _Answer(Leg(absent=reason), {}, _since(started), Unavailable(reason))

    async def _ask_list(
        self, scope: TenantScope, query: DocQuery, using: str, vector: Vector | SparseVector, *, started: float
    ) -> _Answer:
        wanted = Query(where_of(query), using, vector, query.depth)
        [hits] = await self.store.query_batch(scope, COLLECTION, [wanted])
        chunks = {chunk.record_ref: chunk for chunk in (Chunk.from_payload(hit.payload) for hit in hits)}
        scores = {ref: hit.score for ref, hit in zip(chunks, hits, strict=True)}
        return _Answer(Leg(rank_scores(scores)), chunks, _since(started))

    async def _corpus(self, scope: TenantScope) -> CorpusState:
        """Reads the state of the corpus; an answer without it is still an answer."""
        try:
            return await read_corpus(self.store, scope)
        except Unavailable:
            return CorpusState("unknown")

    async def _locate(
        self,
        scope: TenantScope,
        final: tuple[PickedChunk, ...],
        ranked: tuple[ScoredChunk, ...],
        chunks: Mapping[str, Chunk],
    ) -> tuple[DocHit, ...]:
        scored = {one.ref: one for one in ranked}
        places = await self._lines(scope, [chunks[one.ref] for one in final])
        return tuple(DocHit(chunks[one.ref], places.get(one.ref), scored[one.ref], one.diversity) for one in final)

    async def _lines(self, scope: TenantScope, chunks: list[Chunk]) -> dict[str, Lines]:
        ids = dict.fromkeys(document_id(self.space, scope.tenant, chunk.name) for chunk in chunks)
        try:
            found = await self.store.fetch(scope, COLLECTION, list(ids))
        except Unavailable:
            return {}
        documents = [RepoDocument.from_payload(record.payload) for record in found]
        return {one.name.ref(chunk_id): lines for one in documents for chunk_id, lines in one.lines.items()}


async def _read_apart(text: str, read: Callable[[], T]) -> T:
    """Reads a question where it is asked, which takes a millisecond; a long one in a thread, while others are served.

    Not in those of the model, which may hang.
    """
    return read() if len(text) <= SHORT else await asyncio.to_thread(read)


def where_of(query: DocQuery) -> Where:
    """Selects what was asked for; only chunks have vectors, so nothing else need be excluded."""
    where = Where()
    if query.repos:
        where = where.any_of("repo", query.repos)
    if query.kinds:
        where = where.any_of("doc_kind", query.kinds)
    return where


def list_differences(then: DocTrace, now: DocTrace) -> list[str]:
    """Says what differs between two receipts, apart from the time they took; empty if nothing does."""
    differences = []
    if then.model != now.model:
        differences.append(f"the model was {then.model}, and is {now.model}")
    for name, one, other in (("words", then.lexical, now.lexical), ("meaning", then.vector, now.vector)):
        if one.absent != other.absent:
            differences.append(f"{name}: {one.absent or 'answered'} then, {other.absent or 'answered'} now")
    if then.weights != now.weights:
        differences.append(f"the lists were weighed by {then.weights}, and are by {now.weights}")
    before = [(one.ref, one.score) for one in then.final]
    after = [(one.ref, one.score) for one in now.final]
    if before != after:
        differences.append(f"results were {before}, and are {after}")
    if before != after and then.corpus.generation == now.corpus.generation and has_other_scores(then, now):
        differences.append("words: their rarity is that of all tenants together, and others wrote meanwhile")
    return differences


def has_other_scores(then: DocTrace, now: DocTrace) -> bool:
    """Says whether a piece that the list of words held both times scored differently in it."""
    known = {one.ref: one.score for one in then.lexical.hits}
    return any(known.get(one.ref, one.score) != one.score for one in now.lexical.hits)


def _question(text: str, embedder: Embedder) -> Vector:
    return tier_vector(embedder.embed_query(text), embedder.manifest.dimensions)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
