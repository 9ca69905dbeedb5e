"""Answers for documents: writes them in batches, finds them, keeps the receipts, and asks for their vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import structlog
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

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
    RepoView,
    RulingView,
)
from lithify.assembly.service import DEADLINE_MS
from lithify.assembly.traces import TraceBook
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import LaneRuns, request_vectors
from lithify.docs.query import DocTrace
from lithify.docs.search import DocResults, DocSearch, Replay
from lithify.docs.sources import DocName, DocSource
from lithify.errors import Invalid, Unavailable
from lithify.events import Clock, TenantScope
from lithify.http import NotFound

# What stays in the history of the lane; only the last receipt is told in full.
OUTLINE: Final = ("at", "took_ms", "scores", "reasons")
# What a receipt says besides the trace of a search.
NOTES: Final = ("now", "degraded")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DocsService:
    """Answers for the documents of all tenants; `jobs` is a blocking connection, as RQ needs it."""

    holdings: Holdings
    search: DocSearch
    redis: Redis
    jobs: BlockingRedis
    traces: TraceBook
    clock: Clock
    deadline_ms: int = DEADLINE_MS

    async def catalogue(self, scope: TenantScope) -> Catalogue:
        repos = await self.holdings.catalogue(scope)
        return Catalogue(
            repos=[RepoView.of(repo) for repo in repos], unembedded=await self.holdings.count_unembedded(scope)
        )

    async def digests(self, scope: TenantScope, repo: str) -> Digests:
        corpus = await self.holdings.corpus(scope)
        documents = await self.holdings.digests(scope, repo)
        return Digests(repo=repo, version=corpus.versions.get(repo), documents=documents)

    async def put(self, scope: TenantScope, repo: str, path: str, document: DocInput) -> BatchItem:
        """Writes one document. Raises Invalid for what can never be stored."""
        wanted = PathedDoc(path=DocName(repo, path).path, **document.model_dump())
        [item] = (await self.batch(scope, repo, BatchInput(put=(wanted,)))).results
        if item.error is not None:
            raise Invalid(item.error)
        return item

    async def batch(self, scope: TenantScope, repo: str, batch: BatchInput) -> BatchAnswer:
        """Writes and removes documents. Each gets its own result; a bad one keeps none of the others out."""
        sources, refused = read_sources(repo, batch.put)
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
        wanted, refused = check_paths(repo, paths)
        if not wanted:
            return refused
        there = set(await self.holdings.remove_all(scope, repo, wanted))
        return [*refused, *(BatchItem(path=one, status="removed" if one in there else "unchanged") for one in wanted)]

    async def _ask_for_vectors(self) -> None:
        """Asks for vectors now, or leaves them to the schedule; documents are found by their words meanwhile."""
        try:
            await request_vectors(self.jobs)
        except Unavailable as error:
            log.warning("docs_vectors_not_requested", reason=str(error))

    async def show(self, scope: TenantScope, repo: str, path: str) -> DocView:
        """Returns a document with its chunks. Raises NotFound."""
        document = await self.holdings.document(scope, repo, path)
        if document is None:
            raise document_not_found(repo, path)
        chunks = await self.holdings.chunks(scope, repo, path)
        return DocView(
            **DocSummary.of(document).model_dump(),
            chunks=[ChunkView.of(one) for one in chunks],
        )

    async def remove(self, scope: TenantScope, repo: str, path: str) -> None:
        """Removes a document with its chunks. Raises NotFound."""
        if not await self.holdings.remove(scope, repo, path):
            raise document_not_found(repo, path)

    async def clear(self, scope: TenantScope, repo: str) -> int:
        """Removes every document of a repository. Raises NotFound if there is none."""
        paths = list(await self.holdings.digests(scope, repo))
        if not paths:
            raise NotFound(f"repo: there are no documents of {repo!r}")
        return len(await self.holdings.remove_all(scope, repo, paths))

    async def find(self, scope: TenantScope, request: DocSearchRequest) -> DocSearchResponse:
        now = self.clock() if request.now is None else request.now
        limit_ms = self.deadline_ms if request.deadline_ms is None else request.deadline_ms
        found = await self.search.find(scope, request.question(), now, deadline_s=limit_ms / 1000)
        # A replay compares scores to the last digit.
        trace_id = self.traces.keep(scope, make_receipt(found), exact=True)
        hits = [DocHitView.of(hit) for hit in found.hits]
        return DocSearchResponse(hits=hits, degraded=list(found.degraded), trace_id=trace_id)

    async def replay(self, scope: TenantScope, trace_id: str) -> Replay:
        """Asks again what a trace asked.

        Raises NotFound, and Invalid if the trace is not of a docs search or was shortened.
        """
        receipt = await self.traces.read(scope, trace_id)
        if "shortened" in receipt:
            raise Invalid(f"trace_id: {trace_id!r} was shortened for its size and cannot be compared")
        return await self.search.replay(scope, DocTrace.from_json(strip_notes(receipt)))

    async def rule(
        self, scope: TenantScope, repo: str, path: str, wanted: PromotionInput, key_id: str | None
    ) -> RulingView:
        """Rules on the trust of a document. Raises NotFound."""
        by = wanted.by if key_id is None else f"{wanted.by} (key {key_id})"
        ruling = await self.holdings.promote(scope, repo, path, wanted.trust, by=by, why=wanted.why)
        if ruling is None:
            raise document_not_found(repo, path)
        return RulingView.of(ruling)

    async def rulings(self, scope: TenantScope, repo: str) -> list[RulingView]:
        return [RulingView.of(ruling) for ruling in await self.holdings.rulings(scope, repo)]

    async def lane(self, scope: TenantScope) -> LaneView:
        receipts = await LaneRuns(self.redis).all(scope)
        history = [{name: one.get(name) for name in OUTLINE} for one in receipts[1:]]
        notices = [{"at": one["at"], "reasons": one["reasons"]} for one in receipts if one["reasons"]]
        return LaneView(last=receipts[0] if receipts else None, history=history, notices=notices)


def read_sources(repo: str, documents: Sequence[PathedDoc]) -> tuple[list[DocSource], list[BatchItem]]:
    """Returns what can be stored, and why the rest cannot; of two with one path the last counts."""
    sources: dict[str, DocSource] = {}
    refused: list[BatchItem] = []
    for document in documents:
        try:
            sources[DocName(repo, document.path).path] = document.source()
        except Invalid as error:
            refused.append(BatchItem(path=document.path, status="invalid", error=str(error)))
    return list(sources.values()), refused


def check_paths(repo: str, paths: Sequence[str]) -> tuple[list[str], list[BatchItem]]:
    """Returns the paths that may be there, each once, and why the others cannot be."""
    wanted: dict[str, None] = {}
    refused: list[BatchItem] = []
    for path in paths:
        try:
            wanted[DocName(repo, path).path] = None
        except Invalid as error:
            refused.append(BatchItem(path=path, status="invalid", error=str(error)))
    return list(wanted), refused


def make_receipt(found: DocResults) -> dict[str, Any]:
    """Returns the trace of a search with the two notes every receipt has."""
    return found.trace.as_json() | {"now": found.trace.now_ms, "degraded": list(found.degraded)}


def strip_notes(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the trace that a receipt was made of."""
    return {name: value for name, value in receipt.items() if name not in NOTES}


def document_not_found(repo: str, path: str) -> NotFound:
    return NotFound(f"path: there is no document {path!r} in {repo!r}")
