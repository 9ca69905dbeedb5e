"""Fetches what may answer a question: two search legs, then the turns around their best hits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.assembly.deadlines import Deadline, Late, finish_by, hedge
from lithify.assembly.recall.dated import LATE_DATES, PATIENCE_S, DatedSearch, dated_queries, pick_dated
from lithify.assembly.recall.evidence import Judge
from lithify.assembly.recall.found import FoundMemories, add_excerpts, add_found, share_turn_signals, show_pieces
from lithify.assembly.recall.legs import (
    BOTH,
    DENSE,
    WORDS_ONLY,
    Legs,
    dense_query,
    fold_copies,
    fold_hits,
    is_piece,
    keep_others,
    leave_out,
    leave_out_divided,
    lexical_query,
    limits_for,
    read_legs,
    source_turn,
)
from lithify.assembly.recall.memory_sizes import MemorySizes
from lithify.assembly.recall.reach import Reach
from lithify.assembly.recall.signals import PassageQuery, bare_signals, judge_bare, make_imprint, passage_signals
from lithify.assembly.recall.surroundings import Surroundings, find_surroundings, name_whole, read_around
from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.memory.languages import is_foreign
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.candidate import Candidate, Imprint, Scope, read_candidate
from lithify.memory.ranking.duplicates import drop_stand_ins
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION, Calibration
from lithify.memory.ranking.owner import ask_as_owner
from lithify.memory.ranking.passages import ALONE, AROUND, Window
from lithify.memory.ranking.relevance import Signals
from lithify.memory.vectors.background import from_usual
from lithify.memory.vectors.cascade import Cascade, TierTrace
from lithify.memory.vectors.tiers import tier_vector
from lithify.store import LEXICAL, Hit, Query, Record, SparseVector, Vector, VectorStore, Where
from lithify.store.cascade import complete_tiers, search_cascade
from lithify.store.memory_record import COLLECTION, PIECE, MemoryRecord

NO_IMPRINTS: Final[Mapping[str, Imprint]] = MappingProxyType({})

# The last third of a list is hardly ever looked at, and asking for it would read three times as many pieces.
ENOUGH_PLACES: Final = 2 / 3

LATE_STORE: Final = "stored memories did not answer in time"
LATE_VECTOR: Final = "the meaning of the query did not come in time; memories were found by their words alone"

ShownTurnIds = Callable[[], Awaitable[frozenset[str]]]
"""Tells the event ids of turns that the prompt shows anyway; called while the question is embedded."""


async def nothing_shown() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """Says what is asked, where, and how closely: each step looks at fewer records than the one before."""

    text: str
    where: Where
    session: str | None
    reach: Reach
    core: Reach  # every search of the profile looks at least so far, and judges by what it sees there
    legs: frozenset[str] = BOTH
    dense_by_maximum: bool = True
    window: Window = AROUND
    is_judged: bool = True  # whether the chance that a record helps is wanted, or the order alone
    keeps_legs: bool = False  # whether the ranks in both lists are wanted
    dated: DatedSearch | None = None  # which memories with dates are wanted beside what is found, if any

    @property
    def depth(self) -> int:
        """Returns how many places each leg has."""
        return self.reach.depth

    @property
    def wants_passages(self) -> bool:
        """A single leg is asked for as the bare measure it is, and so is a bare cosine (profile `seed`)."""
        return self.dense_by_maximum and self.legs == BOTH and bool(self.window.shares)

    def surroundings(self, legs: Legs) -> list[Surroundings]:
        """Names what is read of what the legs found, the core first; nothing where bare hits are wanted."""
        if not self.wants_passages:
            return []
        cuts = [(reach, legs.cut(reach.depth)) for reach in dict.fromkeys((self.core, self.reach))]
        return [find_surroundings(cut.shortlist(reach.shortlist), self.window, reach.passages) for reach, cut in cuts]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches stored memories; with a `cascade`, short prefixes of the vectors before whole ones."""

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor
    cascade: Cascade | None = None
    calibration: Calibration | None = None  # of the model's cosines; without one, nothing is judged absolutely
    sizes: MemorySizes = field(default_factory=MemorySizes)

    @property
    def fingerprint(self) -> str:
        """Names the model whose vectors are compared."""
        return self.embedder.fingerprint

    async def retrieve_in_time(
        self, scope: TenantScope, query: RecallQuery, deadline: Deadline, shown: ShownTurnIds = nothing_shown
    ) -> FoundMemories:
        """Retrieves within a deadline: a slow model costs the search by meaning, a slow store all of it.

        Never raises for a missing or slow dependency: what could not be asked is named in `degraded`.
        """
        by_words = replace(query, legs=WORDS_ONLY)
        try:
            if query.legs != BOTH:
                return await finish_by(self.retrieve(scope, query, shown), deadline)
            answer = await hedge(
                lambda: self.retrieve(scope, query, shown), lambda: self.retrieve(scope, by_words, shown), deadline
            )
        except Late:
            return FoundMemories(degraded=[LATE_STORE])
        found = answer.value
        return found if answer.failure is None else replace(found, degraded=[LATE_VECTOR])

    async def retrieve(
        self, scope: TenantScope, query: RecallQuery, shown: ShownTurnIds = nothing_shown
    ) -> FoundMemories:
        """Retrieves without a deadline; turns that are `shown` anyway, and their copies, take no place among the hits.

        Never raises for a missing dependency: what could not be asked is named in `degraded`.
        """
        if not query.text:
            return FoundMemories()
        words = self._words(scope, query)
        # The words are looked up while the model computes, which takes longer.
        (vector, degraded), by_words = await asyncio.gather(
            self._embed(scope, query), self._search_words(scope, query, words, shown)
        )
        hidden = await shown()
        try:
            (legs, tiers), (dates, undated) = await asyncio.gather(
                self._search(scope, query, vector, hits_or_raise(by_words), shown=hidden),
                self._search_dates(scope, query, vector, hidden),
            )
        except LithifyError as error:
            return FoundMemories(degraded=[*degraded, f"stored memories cannot be read: {error}"])
        read = legs.shortlist(query.reach.shortlist) if query.wants_passages else legs.hits.values()
        dated = pick_dated(dates, set(map(source_turn, read)), query.dated)
        around = query.surroundings(legs)
        further = [find_surroundings(dated, query.window, 0)] if around and dated else []
        try:
            records = await read_around(self.store, scope, query.where, [*around, *further])
            wholes = {} if query.wants_passages else await self._read_wholes(scope, [*legs.hits.values(), *dated])
        except LithifyError as error:
            return await self._retrieve_alone(scope, query, shown, error)
        judge = await self._judge(scope, query, legs, meaning=vector is not None)
        asked = self._passage_query(query, words, vector)
        if query.wants_passages:
            found = unite_passages(query, asked, records, around, judge, further)
        else:
            bare = self._unite_bare(query, asked, legs.fold_pieces(wholes), judge, fold_hits(dated, wholes))
            found = show_pieces(bare, [*legs.hits.values(), *dated])
        kept = legs if query.keeps_legs else None
        return replace(found, degraded=[*degraded, *undated], tiers=tiers, legs=kept)

    async def _retrieve_alone(
        self, scope: TenantScope, query: RecallQuery, shown: ShownTurnIds, error: LithifyError
    ) -> FoundMemories:
        """Retrieves bare hits, after the turns around them could not be read; long ones may still be missing."""
        reason = f"the turns around what was found cannot be read: {error}"
        if not query.wants_passages:
            return FoundMemories(degraded=[reason])
        alone = await self.retrieve(scope, replace(query, window=ALONE), shown)
        return replace(alone, degraded=[*alone.degraded, reason])

    async def _read_wholes(self, scope: TenantScope, hits: Sequence[Hit]) -> dict[str, Record]:
        """Reads the long records whose pieces were found, by the ids of those. Raises Unavailable."""
        parents = {hit.id: name_whole(hit) for hit in hits if is_piece(hit)}
        names = list(dict.fromkeys(parents.values()))
        found = {record.id: record for record in await self.store.fetch(scope, COLLECTION, names)} if names else {}
        return {piece: found[parent] for piece, parent in parents.items() if parent in found}

    async def _judge(self, scope: TenantScope, query: RecallQuery, legs: Legs, *, meaning: bool) -> Judge | None:
        """Returns by which constants the records are judged; None where nobody wants it, or nobody fitted them."""
        if not query.is_judged or self.calibration is None:
            return None
        if not meaning:
            return Judge(WORDS_CALIBRATION, len(legs.hits))
        # Pieces count: the best of ten pieces is nearer to any question than a turn of one.
        size = await self.sizes.read(self.store, scope, leave_out_divided(query.where), len(legs.by_meaning))
        return Judge(self.calibration, size, max(legs.dense.values(), default=0.0))

    def _unite_bare(
        self, query: RecallQuery, asked: PassageQuery, legs: Legs, judge: Judge | None, dated: Sequence[Hit] = ()
    ) -> FoundMemories:
        """Unites the hits of both legs as they are, without the turns around them, and adds dated ones to them."""
        if dated:
            return add_found(
                self._unite_bare(query, asked, legs, judge), self._unite_bare(query, asked, legs.add(dated), judge)
            )
        memories = {hit.id: MemoryRecord.from_payload(hit.payload) for hit in legs.hits.values()}
        found = bare_signals(legs.dense, legs.lexical, by_best=query.dense_by_maximum)
        signals = {key: found[key] for key in memories}
        if judge is None:
            return gather_candidates(query, memories, signals)
        texts = [self.analyser.query_vector(memory.text)[0] for memory in memories.values()]
        core = legs.cut(query.core.depth).hits
        evidence = judge_bare(asked.words, texts, signals, legs.dense, core=core, judge=judge)
        return replace(gather_candidates(query, memories, signals), evidence=evidence)

    async def _search(
        self,
        scope: TenantScope,
        query: RecallQuery,
        vector: Vector | None,
        by_words: Sequence[Hit],
        *,
        shown: frozenset[str],
    ) -> tuple[Legs, list[TierTrace]]:
        if vector is None:
            return read_legs([], by_words, None), []
        where = leave_out(query.where, shown)
        if self.cascade is not None:
            return await self._search_tiers(scope, query, where, vector, by_words=by_words)
        by_meaning = await self._ask(
            scope, query.depth, lambda limit: dense_query(where, limit, vector, places_only=query.wants_passages)
        )
        return read_legs(by_meaning, by_words, vector), []

    async def _search_dates(
        self, scope: TenantScope, query: RecallQuery, vector: Vector | None, shown: frozenset[str]
    ) -> tuple[list[list[Hit]], list[str]]:
        """Returns memories with dates, by how many they have, and what kept them away; without a question's, none."""
        if query.dated is None or vector is None:
            return [], []
        where = leave_out(query.where, shown)
        floor = from_usual(query.dated.floor, self.embedder.manifest.background.questions)
        wanted = query.dated._replace(floor=floor)
        queries = dated_queries(where, wanted, vector, query.depth, places_only=query.wants_passages)
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self.store.query_batch(scope, COLLECTION, queries), []
        except TimeoutError:
            return [], [LATE_DATES]
        except LithifyError as error:
            return [], [f"memories with dates cannot be read: {error}"]

    async def _search_tiers(
        self, scope: TenantScope, query: RecallQuery, where: Where, vector: Vector, *, by_words: Sequence[Hit]
    ) -> tuple[Legs, list[TierTrace]]:
        cascade = self.cascade or Cascade((self.embedder.manifest.dimensions,), ())
        usable = await complete_tiers(self.store, scope, COLLECTION, where=query.where, cascade=cascade)
        limit, *_ = limits_for(query.depth)
        answer = await search_cascade(
            self.store,
            scope,
            COLLECTION,
            leave_out_divided(where),
            vector=vector,
            limit=limit,
            cascade=cascade,
            usable=usable,
        )
        return read_legs(fold_copies(answer.hits, query.depth), by_words, vector), answer.trace

    async def _search_words(
        self, scope: TenantScope, query: RecallQuery, words: SparseVector | None, shown: ShownTurnIds
    ) -> list[Hit] | LithifyError:
        if words is None or not words.indices:
            return []
        where = leave_out(query.where, await shown())
        is_bare = not query.wants_passages
        try:
            return await self._ask(
                scope,
                query.depth,
                lambda limit: lexical_query(
                    where, limit, words, places_only=not is_bare, cosines=DENSE in query.legs and is_bare
                ),
            )
        except LithifyError as error:
            return error

    async def _ask(self, scope: TenantScope, places: int, make: Callable[[int], Query]) -> list[Hit]:
        """Returns the hits of so many source turns, or of most; asks again where copies and pieces took too many."""
        kept: list[Hit] = []
        for limit in limits_for(places):
            [hits] = await self.store.query_batch(scope, COLLECTION, [make(limit)])
            kept = fold_copies(hits, places)
            if len(hits) < limit or len(set(map(source_turn, kept))) >= ENOUGH_PLACES * places:
                break
        return kept

    async def _embed(self, scope: TenantScope, query: RecallQuery) -> tuple[npt.NDArray[np.float64] | None, list[str]]:
        if DENSE not in query.legs:
            return None, []
        loop = asyncio.get_running_loop()
        try:
            asked = ask_as_owner(query.text, scope.user)
            vector = await loop.run_in_executor(self.executor, self.embedder.embed_query, asked)
        except Exception as error:  # noqa: BLE001 - whatever the runtime throws, lexical search still answers
            return None, [f"the query cannot be embedded: {error}"]
        return tier_vector(vector, self.embedder.manifest.dimensions), []

    def _words(self, scope: TenantScope, query: RecallQuery) -> SparseVector | None:
        """Returns the words to look for, without the name of whose memory it is: everything in it is about him."""
        if LEXICAL not in query.legs:
            return None
        owner = self.analyser.query_vector(scope.user)[0] if scope.user else ()
        return keep_others(self.analyser.query_vector(query.text), frozenset(owner))

    def _passage_query(
        self, query: RecallQuery, words: SparseVector | None, vector: npt.NDArray[np.float64] | None
    ) -> PassageQuery:
        wanted = words.indices if words else self.analyser.query_vector(query.text)[0]
        manifest = self.embedder.manifest
        unread = not manifest.multilingual and is_foreign(query.text)
        return PassageQuery(query.text, wanted, vector, manifest.background, unread)


def hits_or_raise(hits: list[Hit] | LithifyError) -> list[Hit]:
    if isinstance(hits, LithifyError):
        raise hits
    return hits


def unite_passages(
    query: RecallQuery,
    asked: PassageQuery,
    records: Sequence[Record],
    around: Sequence[Surroundings],
    judge: Judge | None,
    further: Sequence[Surroundings] = (),
) -> FoundMemories:
    """Unites the records that were read, each judged with those that stand around it.

    Those of `further` levels are judged beside the others, whose own standing they leave as it is.
    """
    if further:
        near = [record for record in records if any(level.holds(record) for level in around)]
        found = unite_passages(query, asked, near, around, judge)
        return add_found(found, unite_passages(query, asked, records, [*around, *further], judge))
    pieces = [record for record in records if record.payload["kind"] == PIECE]
    wholes = [record for record in records if record.payload["kind"] != PIECE]
    memories = {record.id: MemoryRecord.from_payload(record.payload) for record in wholes}
    in_core = np.array([around[0].holds(record) for record in wholes], dtype=np.bool_)
    judged = passage_signals(
        asked, wholes, list(memories.values()), query.window, pieces=pieces, in_core=in_core, judge=judge
    )
    imprints = {record.id: make_imprint(asked, record) for record in wholes}
    found = gather_candidates(query, memories, share_turn_signals(judged.signals, memories), imprints)
    return replace(
        found, evidence=judged.evidence, candidates=add_excerpts(found.candidates, judged.excerpts, memories)
    )


def gather_candidates(
    query: RecallQuery,
    memories: Mapping[str, MemoryRecord],
    signals: Mapping[str, Signals],
    imprints: Mapping[str, Imprint] = NO_IMPRINTS,
) -> FoundMemories:
    """Makes the records compete; those that were replaced as summaries do not."""
    standing = {key: memory for key, memory in memories.items() if memory.active or memory.kind == "turn"}
    candidates = [
        replace(make_candidate(key, memory, query.session, signals[key]), imprint=imprints.get(key))
        for key, memory in standing.items()
    ]
    covered = {key: memory.source_ids for key, memory in standing.items()}
    return FoundMemories(drop_stand_ins(candidates, covered), standing)


def make_candidate(record_id: str, memory: MemoryRecord, session: str | None, signals: Signals) -> Candidate:
    """Makes a record compete in a session; what it knows of the question stands in `signals`."""
    return read_candidate(record_id, scope_of(memory, session), memory, signals)


def scope_of(memory: MemoryRecord, session: str | None) -> Scope:
    """Tells a session's own records, the user's other sessions, and what was promoted or shared (spec 01 §3)."""
    if memory.scope != Scope.SESSION:
        return Scope(memory.scope)
    return Scope.SESSION if memory.session == session else Scope.HISTORY
