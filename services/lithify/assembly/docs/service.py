"""Answers for documents: writes them in batches, finds them, keeps the receipts, and asks for their vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, attempt
from lithify.assembly.docs.schema import (
    BatchAnswer,
    BatchInput,
    BatchItem,
    Catalogue,
    ChunkView,
    Digests,
    DocHitView,
    DocInput,
    DocSearchRequest,
    DocSearchResponse,
    DocSummary,
    DocView,
    LaneView,
    PathedDoc,
    PromotionInput,
    RulingView,
    ShelfView,
)
from lithify.assembly.service import DEADLINE_MS, NOTES_MS
from lithify.assembly.traces import MAX_BYTES, keep_trace, new_trace_id, read_trace
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import LaneRuns, request_vectors
from lithify.docs.search import DocResults, DocSearch, Replay
from lithify.docs.sources import DocName, DocSource
from lithify.docs.trace import DocTrace
from lithify.errors import Invalid, Unavailable
from lithify.events import Clock, TenantScope
from lithify.http import NotFound

# What stays in the history of the lane; only the last receipt is told in full.
OUTLINE: Final = ("at", "took_ms", "scores", "reasons")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DocsDesk:
    """`jobs` is a blocking connection, as RQ needs it."""

    holdings: Holdings
    search: DocSearch
    redis: Redis
    jobs: BlockingRedis
    clock: Clock
    trace_ttl_s: int
    deadline_ms: int = DEADLINE_MS

    async def catalogue(self, scope: TenantScope) -> Catalogue:
        shelves = await self.holdings.catalogue(scope)
        return Catalogue(
            repos=[ShelfView.of(shelf) for shelf in shelves], unembedded=await self.holdings.count_unembedded(scope)
        )

    async def digests(self, scope: TenantScope, repo: str) -> Digests:
        corpus = await self.holdings.corpus(scope)
        documents = await self.holdings.digests(scope, repo)
        return Digests(repo=repo, version=corpus.versions.get(repo), documents=documents)

    async def put(self, scope: TenantScope, repo: str, path: str, document: DocInput) -> BatchItem:
        """Raises Invalid for what can never be stored."""
        wanted = PathedDoc(path=DocName(repo, path).path, **document.model_dump())
        [item] = (await self.batch(scope, repo, BatchInput(put=(wanted,)))).results
        if item.error is not None:
            raise Invalid(item.error)
        return item

    async def batch(self, scope: TenantScope, repo: str, batch: BatchInput) -> BatchAnswer:
        """Each document gets its own result; a bad one keeps none of the others out."""
        sources, refused = checked(repo, batch.put)
        written = await self._write(scope, repo, sources, batch.version)
        removed = await self._remove(scope, repo, batch.remove)
        if batch.version is not None:
            await self.holdings.set_version(scope, repo, batch.version)
        if any(item.chunks for item in written):
            await self._ask_for_vectors()
        return BatchAnswer(results=[*refused, *written, *removed])

    async def _write(
        self, scope: TenantScope, repo: str, sources: Sequence[DocSource], version: str | None
    ) -> list[BatchItem]:
        if not sources:
            return []
        return [BatchItem.of(one) for one in await self.holdings.put_all(scope, repo, sources, version=version)]

    async def _remove(self, scope: TenantScope, repo: str, paths: Sequence[str]) -> list[BatchItem]:
        wanted, refused = removable(repo, paths)
        if not wanted:
            return refused
        there = set(await self.holdings.remove_all(scope, repo, wanted))
        return [*refused, *(BatchItem(path=one, status="removed" if one in there else "unchanged") for one in wanted)]

    async def _ask_for_vectors(self) -> None:
        """What cannot be asked for now is made by the schedule; the documents are found by their words meanwhile."""
        try:
            await request_vectors(self.jobs)
        except Unavailable as error:
            log.warning("docs_vectors_not_requested", reason=str(error))

    async def show(self, scope: TenantScope, repo: str, path: str) -> DocView:
        """Raises NotFound."""
        document = await self.holdings.document(scope, repo, path)
        if document is None:
            raise missing(repo, path)
        chunks = await self.holdings.chunks(scope, repo, path)
        return DocView(
            **DocSummary.of(document).model_dump(),
            chunks=[ChunkView.of(one) for one in chunks],
        )

    async def remove(self, scope: TenantScope, repo: str, path: str) -> None:
        """Raises NotFound."""
        if not await self.holdings.remove(scope, repo, path):
            raise missing(repo, path)

    async def clear(self, scope: TenantScope, repo: str) -> int:
        """Removes every document of a repository. Raises NotFound if there is none."""
        paths = list(await self.holdings.digests(scope, repo))
        if not paths:
            raise NotFound(f"repo: there are no documents of {repo!r}")
        return len(await self.holdings.remove_all(scope, repo, paths))

    async def find(self, scope: TenantScope, request: DocSearchRequest) -> DocSearchResponse:
        now = self.clock() if request.now is None else request.now
        limit_ms = self.deadline_ms if request.deadline_ms is None else request.deadline_ms
        deadline = Deadline.after(limit_ms)
        found = await self.search.find(scope, request.question(), now, deadline_s=limit_ms / 1000)
        trace_id = new_trace_id()
        keeping = keep_trace(self.redis, scope, trace_id, receipt(found), self.trace_ttl_s)
        deadline = max(deadline, Deadline.after(NOTES_MS))
        _, complaints = await attempt(keeping, deadline, None, "the receipt could not be kept")
        hits = [DocHitView.of(hit) for hit in found.hits]
        return DocSearchResponse(hits=hits, degraded=[*found.degraded, *complaints], trace_id=trace_id)

    async def replay(self, scope: TenantScope, trace_id: str) -> Replay:
        """Raises NotFound, and Invalid if the trace is not of a docs search or was shortened."""
        found = await read_trace(self.redis, scope, trace_id)
        if found is None:
            raise NotFound(f"trace_id: no trace {trace_id!r}; it never was or has expired")
        if "shortened" in found:
            raise Invalid(f"trace_id: {trace_id!r} was shortened for its size and cannot be compared")
        return await self.search.replay(scope, DocTrace.from_json(without_notes(found)))

    async def rule(
        self, scope: TenantScope, repo: str, path: str, wanted: PromotionInput, key_id: str | None
    ) -> RulingView:
        """Raises NotFound."""
        by = wanted.by if key_id is None else f"{wanted.by} (key {key_id})"
        ruling = await self.holdings.promote(scope, repo, path, wanted.trust, by=by, why=wanted.why)
        if ruling is None:
            raise missing(repo, path)
        return RulingView.of(ruling)

    async def rulings(self, scope: TenantScope, repo: str) -> list[RulingView]:
        return [RulingView.of(ruling) for ruling in await self.holdings.rulings(scope, repo)]

    async def lane(self, scope: TenantScope) -> LaneView:
        receipts = await LaneRuns(self.redis).all(scope)
        history = [{name: one.get(name) for name in OUTLINE} for one in receipts[1:]]
        notices = [{"at": one["at"], "reasons": one["reasons"]} for one in receipts if one["reasons"]]
        return LaneView(last=receipts[0] if receipts else None, history=history, notices=notices)


def checked(repo: str, documents: Sequence[PathedDoc]) -> tuple[list[DocSource], list[BatchItem]]:
    """What can be stored, and why the rest cannot; of two with one path the last counts."""
    sources, refused = dict[str, DocSource](), list[BatchItem]()
    for document in documents:
        try:
            sources[DocName(repo, document.path).path] = document.source()
        except Invalid as error:
            refused.append(BatchItem(path=document.path, status="invalid", error=str(error)))
    return list(sources.values()), refused


def removable(repo: str, paths: Sequence[str]) -> tuple[list[str], list[BatchItem]]:
    """Paths that may be there, each once, and why the others cannot be."""
    wanted, refused = dict[str, None](), list[BatchItem]()
    for path in paths:
        try:
            wanted[DocName(repo, path).path] = None
        except Invalid as error:
            refused.append(BatchItem(path=path, status="invalid", error=str(error)))
    return list(wanted), refused


NOTES: Final = ("now", "degraded")


def receipt(found: DocResults) -> dict[str, Any]:
    """The trace with the two notes every receipt has; its long lists lose their end where it would be too large."""
    whole = found.trace.as_json() | {"now": found.trace.now_ms, "degraded": list(found.degraded)}
    while len(orjson.dumps(whole)) > MAX_BYTES and any(whole[leg]["hits"] for leg in ("lexical", "vector")):
        legs = {leg: whole[leg] | {"hits": halved(whole[leg]["hits"])} for leg in ("lexical", "vector")}
        whole |= legs | {"shortened": {"lexical": 1, "vector": 1}}
    return whole


def halved(hits: Sequence[Any]) -> Sequence[Any]:
    return hits[: len(hits) // 2]


def without_notes(trace: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in trace.items() if name not in NOTES}


def missing(repo: str, path: str) -> NotFound:
    return NotFound(f"path: there is no document {path!r} in {repo!r}")
