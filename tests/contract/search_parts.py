"""Records on a shelf and a search over them, past the pipeline and the HTTP surface."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lithify.assembly.deadlines import Deadline
from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import SearchResult, search
from lithify.assembly.schema import SearchHit, SearchRequest
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT, TenantScope
from lithify.indexing import embed_tiers, lexical_vector
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION
from lithify.memory.ranking.profile import RECALL, Profile
from lithify.memory.tokens import estimate_tokens
from lithify.memory.vectors.cascade import Cascade
from lithify.store import Record, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord, position_of

NOW = 1_700_000_000_000
DAY_MS = 86_400_000
UNHURRIED_MS = 60_000
TENANT = "acme"


@dataclass(frozen=True, slots=True)
class Shelf:
    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser = field(default_factory=LexicalAnalyser)
    executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    cascade: Cascade | None = None

    async def put(self, key: str, text: str, **fields: Any) -> str:
        """A turn of ada's session `s` unless told otherwise; returns its id."""
        known: dict[str, Any] = {"tenant": TENANT, "user": "ada", "kind": "turn", "scope": "session", "session": "s"}
        memory = MemoryRecord(
            text=text, token_estimate=estimate_tokens(text), **known | {"ts": NOW, "event_id": key} | fields
        )
        payload = memory.payload()
        if memory.session is not None and memory.seq is not None:
            payload["position"] = position_of(memory.user, memory.session, memory.seq)
        record = Record(
            id=point_id(memory.tenant, memory.kind, f"{memory.user}/{key}", self.embedder.manifest.family),
            payload=payload,
            vectors=embed_tiers([text], self.embedder)[0],
            lexical=lexical_vector(text, self.analyser),
        )
        await self.store.upsert(EVERY_TENANT, COLLECTION, [record])
        return record.id

    async def talk(self, *texts: str, session: str = "s", **fields: Any) -> None:
        """Turns in a row, named `<session>1`, `<session>2`, ..."""
        for number, text in enumerate(texts, start=1):
            await self.put(f"{session}{number}", text, session=session, seq=number, **fields)

    async def ask(self, query: str, profile: Profile = RECALL, **fields: Any) -> SearchResult:
        scope = TenantScope(TENANT, "ada", shared=True)
        request = SearchRequest(query=query, user="ada", **fields)
        return await search(
            Retriever(
                self.store, self.embedder, self.analyser, self.executor, self.cascade, calibration=WORDS_CALIBRATION
            ),
            scope,
            request,
            profile,
            now_ms=NOW,
            deadline=Deadline.after(UNHURRIED_MS),
        )

    async def hits(self, query: str, profile: Profile = RECALL, **fields: Any) -> list[SearchHit]:
        result = await self.ask(query, profile, **fields)
        assert result.found.degraded == []
        return result.hits

    async def names(self, query: str, profile: Profile = RECALL, **fields: Any) -> list[str | None]:
        return [hit.event_id for hit in await self.hits(query, profile, **fields)]
