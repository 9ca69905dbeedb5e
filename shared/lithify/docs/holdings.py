"""Writes, lists and removes documents; every step may be repeated, and the next sync heals what a crash left."""

import asyncio
import secrets
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeVar

from lithify.batching import batched
from lithify.docs.document import CHUNK_KIND, DOCUMENT_KIND, Chunk, Lines, RepoDocument
from lithify.docs.sources import DocKind, DocName, DocSource, SourceKind, checked_repo, parse_ref
from lithify.docs.space import COLLECTION, CORPUS, REPOSITORY, CorpusState, RepoSummary, Space, read_corpus
from lithify.docs.trust import RULING_KIND, Ruling, Trust, checked_trust
from lithify.docs.writing import (
    DocChange,
    StoredDocument,
    WritePlan,
    WriteTarget,
    chunk_id_of,
    chunk_records,
    document_id,
    document_record,
    plan_write,
)
from lithify.errors import Invalid, Unavailable
from lithify.events import Clock, TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store import Record, VectorStore, Where
from lithify.store.reading import every_record

# Files written together: the store syncs to disk once for all of them, and a crash repeats no more.
BATCH: Final = 64
MAX_WORDS: Final = 2000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LocatedChunk:
    """Holds a chunk and its place in the file, which is None while the document is being written."""

    chunk: Chunk
    lines: Lines | None


@dataclass(frozen=True, slots=True)
class Holdings:
    """Keeps the documents of all tenants.

    A document is written in this order: its own record, marked as being written; its chunks; and the mark is removed.
    Whoever finds the mark, or another digest than the file has, writes it again. One instance writes one thing at a
    time; when two processes write the same document at once, no mixture of theirs counts as finished. The user of a
    scope plays no part: documents belong to the tenant.
    """

    store: VectorStore
    analyser: LexicalAnalyser
    executor: Executor
    clock: Clock
    space: Space
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def put(
        self,
        scope: TenantScope,
        repo: str,
        path: str,
        text: str,
        /,
        *,
        kind: DocKind | None = None,
        source_kind: SourceKind = "operator",
        version: str | None = None,
    ) -> DocChange:
        """Stores a file: found by its words on return, and by its meaning once the job that embeds has run.

        Raises Invalid, or Unavailable when interrupted: the same call finishes it.
        """
        [change] = await self.put_all(scope, repo, [DocSource(path, text, kind, source_kind)], version=version)
        return change

    async def put_all(
        self, scope: TenantScope, repo: str, sources: Sequence[DocSource], /, *, version: str | None = None
    ) -> list[DocChange]:
        """Does what `put` does for many files at a few round trips; the changes are in the order of the sources."""
        names = [DocName(repo, source.path) for source in sources]
        if len(set(names)) != len(names):
            raise Invalid(f"a path occurs twice among {len(names)} files of {repo}; send each file once")
        changes: list[DocChange] = []
        async with self._writing:
            for batch in batched(sources, BATCH):
                changes += await self._put_batch(scope.tenant, repo, batch, version)
        return changes

    async def remove(self, scope: TenantScope, repo: str, path: str, /) -> bool:
        """Returns whether there was one; nothing of it is left on return, save the rulings about it."""
        return bool(await self.remove_all(scope, repo, [path]))

    async def remove_all(self, scope: TenantScope, repo: str, paths: Sequence[str], /) -> list[str]:
        """Removes documents and returns the paths that were there; the rulings about them stay."""
        names = [DocName(repo, path) for path in paths]
        async with self._writing:
            found = await self._fetch_documents(scope.tenant, names)
            marked = self._marked_records(found, _new_token())
            tenant = TenantScope(scope.tenant)
            if marked:
                await self.store.upsert(tenant, COLLECTION, [*marked, self._next_generation(scope.tenant)])
            # Also of those not found: chunks come after their document, but nobody can promise what a disk kept.
            await self.store.delete(tenant, COLLECTION, _of_names(names))
            if marked:
                await self.store.upsert(tenant, COLLECTION, [self._next_generation(scope.tenant)])
        return [document.path for document in found]

    async def digests(self, scope: TenantScope, repo: str, /) -> dict[str, str]:
        """Returns the digest of every stored file by its path; one that equals `DocSource.digest` needs no `put`.

        An unfinished one has an empty digest.
        """
        return {one.path: one.digest if one.is_finished else "" for one in await self.documents(scope, repo)}

    async def catalogue(self, scope: TenantScope, /) -> list[RepoSummary]:
        """Returns the repositories in the order of their names."""
        files: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        newest: dict[str, int] = {}
        for one in await self.documents(scope):
            files[one.repo] += 1
            chunks[one.repo] += len(one.lines)
            newest[one.repo] = max(newest.get(one.repo, 0), one.ts)
        synced = {one["repo"]: one async for one in self._payloads(scope, Where().equals("kind", REPOSITORY))}
        return [
            RepoSummary(
                repo=repo,
                version=synced.get(repo, {}).get("version"),
                files=files[repo],
                chunks=chunks[repo],
                synced_at=synced.get(repo, {}).get("ts") or newest.get(repo),
            )
            for repo in sorted({*files, *synced})
        ]

    async def documents(self, scope: TenantScope, repo: str | None = None, /) -> list[RepoDocument]:
        """Returns the documents, sorted by repository and path."""
        where = _of_repo(Where().equals("kind", DOCUMENT_KIND), repo)
        found = [RepoDocument.from_payload(payload) async for payload in self._payloads(scope, where)]
        return sorted(found, key=lambda one: (one.repo, one.path))

    async def document(self, scope: TenantScope, repo: str, path: str, /) -> RepoDocument | None:
        return next(iter(await self._fetch_documents(scope.tenant, [DocName(repo, path)])), None)

    async def chunks(self, scope: TenantScope, repo: str, path: str, /) -> list[LocatedChunk]:
        """Returns the chunks of a document in the order of the file."""
        stored = (await self._read_stored(scope.tenant, [DocName(repo, path)]))[path]
        lines = stored.document.lines if stored.document else {}
        order = {chunk_id: number for number, chunk_id in enumerate(lines)}
        found = sorted(stored.chunks.values(), key=lambda one: (order.get(one.chunk_id, len(order)), one.chunk_id))
        return [LocatedChunk(one, lines.get(one.chunk_id)) for one in found]

    async def get(self, scope: TenantScope, record_ref: str, /) -> LocatedChunk | None:
        """Follows a reference back to its chunk (spec 10.3), None if there is none. Raises Invalid for another text."""
        name, chunk_id = parse_ref(record_ref)
        own = self.space.id_of(scope.tenant, CHUNK_KIND, record_ref)
        whole = document_id(self.space, scope.tenant, name)
        found = await self.store.fetch(TenantScope(scope.tenant), COLLECTION, [own, whole])
        by_id = {record.id: record.payload for record in found}
        if own not in by_id:
            return None
        lines = RepoDocument.from_payload(by_id[whole]).lines if whole in by_id else {}
        return LocatedChunk(Chunk.from_payload(by_id[own]), lines.get(chunk_id))

    async def promote(
        self, scope: TenantScope, repo: str, path: str, trust: Trust, /, *, by: str, why: str
    ) -> Ruling | None:
        """Rules on the trust of a document, either way; None if there is no such document.

        A promotion holds until the text changes, a demotion until the next ruling. The ruling is kept before it takes
        effect, so that no trust is without one. Raises Invalid.
        """
        checked_trust(trust)
        _check_words(by, why)
        async with self._writing:
            document = await self.document(scope, repo, path)
            if document is None:
                return None
            ruling = Ruling(
                ruling_id=_new_token(),
                tenant=scope.tenant,
                repo=repo,
                path=path,
                before=document.trust,
                after=trust,
                by=by,
                why=why,
                at=self.clock(),
                content_hash=document.content_hash,
            )
            await self._apply_ruling(document, ruling)
        return ruling

    async def _apply_ruling(self, document: RepoDocument, ruling: Ruling) -> None:
        """Keeps the ruling, marks the document, gives its chunks the trust, and removes the mark, in this order."""
        tenant = TenantScope(ruling.tenant)
        ruling_id = self.space.id_of(ruling.tenant, RULING_KIND, ruling.ruling_id)
        await self.store.upsert(tenant, COLLECTION, [Record(ruling_id, ruling.payload())])
        ruled = replace(document, trust=ruling.after, ruling=ruling)
        token = _new_token()
        marked = self._marked_records([ruled], token)
        await self.store.upsert(tenant, COLLECTION, [*marked, self._next_generation(ruling.tenant)])
        chunks = _of_names([document.name]).equals("kind", CHUNK_KIND)
        await self.store.set_payload(tenant, COLLECTION, chunks, {"trust": ruling.after})
        if document.is_finished:
            await self._finish(ruling.tenant, [ruled], token)

    async def rulings(self, scope: TenantScope, repo: str | None = None, /) -> list[Ruling]:
        """Returns the rulings, newest first."""
        where = _of_repo(Where().equals("kind", RULING_KIND), repo)
        found = [Ruling.from_payload(payload) async for payload in self._payloads(scope, where)]
        return sorted(found, key=lambda one: (-one.at, one.ruling_id))

    async def set_version(self, scope: TenantScope, repo: str, version: str | None, /) -> None:
        """Notes that a sync of the repository ended just now, and at which commit."""
        payload = {
            "tenant": scope.tenant,
            "kind": REPOSITORY,
            "repo": checked_repo(repo),
            "version": version,
            "ts": self.clock(),
        }
        record = Record(self.space.id_of(scope.tenant, REPOSITORY, repo), payload)
        await self.store.upsert(TenantScope(scope.tenant), COLLECTION, [record])

    async def corpus(self, scope: TenantScope, /) -> CorpusState:
        return await read_corpus(self.store, scope)

    async def count_unembedded(self, scope: TenantScope, /) -> int:
        """Counts the chunks that still wait to be embedded."""
        return await self.store.count(TenantScope(scope.tenant), COLLECTION, Where().present(MISSING_TIERS))

    async def _put_batch(
        self, tenant: str, repo: str, sources: Sequence[DocSource], version: str | None
    ) -> list[DocChange]:
        stored = await self._read_stored(tenant, [DocName(repo, source.path) for source in sources])
        target = WriteTarget(tenant, repo, version, self.clock())
        plans = await self._offload(lambda: [plan_write(one, stored[one.path], target) for one in sources])
        fresh = [one for one in plans if not one.known]
        if fresh:
            await self._write(tenant, fresh)
        return [one.change for one in plans]

    async def _write(self, tenant: str, plans: Sequence[WritePlan]) -> None:
        scope = TenantScope(tenant)
        token = _new_token()
        written = [chunk for one in plans for chunk in one.written]
        made = await self._offload(partial(chunk_records, written, self.space, self.analyser))
        marked = self._marked_records([one.document for one in plans], token)
        # In this order also inside the call: a crash in it must not leave chunks whose document seems finished.
        await self.store.upsert(scope, COLLECTION, [*marked, self._next_generation(tenant), *made])
        retrusted = [chunk for one in plans for chunk in one.retrusted]
        if retrusted:
            trusts = {chunk_id_of(self.space, chunk): {"trust": chunk.trust} for chunk in retrusted}
            await self.store.set_payloads(scope, COLLECTION, trusts)
        removed = [ref for one in plans for ref in one.change.removed]
        if removed:
            ids = [self.space.id_of(tenant, CHUNK_KIND, ref) for ref in removed]
            await self.store.delete(scope, COLLECTION, Where().ids(ids))
        await self._verify(tenant, plans, token)

    async def _verify(self, tenant: str, plans: Sequence[WritePlan], token: str) -> None:
        """Finishes what is stored as it was meant; another process that wrote the same document may have mixed in.

        Whichever of the two finishes first, a mixture ends marked as unfinished: who finds it marks it with a token
        that nobody waits for.
        """
        stored = await self._read_stored(tenant, [one.document.name for one in plans])
        mixed = [one.document for one in plans if stored[one.document.path].chunks != one.chunks]
        if mixed:
            ids = [document_id(self.space, tenant, one.name) for one in mixed]
            await self.store.set_payload(TenantScope(tenant), COLLECTION, Where().ids(ids), {"writing": _new_token()})
        await self._finish(tenant, [one.document for one in plans], token)
        if mixed:
            names = ", ".join(sorted(one.path for one in mixed))
            raise Unavailable(f"{names}: written by two processes at once; send it again")

    async def _finish(self, tenant: str, documents: Iterable[RepoDocument], token: str) -> None:
        """Removes the mark of those that are still of this write."""
        ids = [document_id(self.space, tenant, one.name) for one in documents]
        await self.store.upsert(TenantScope(tenant), COLLECTION, [self._next_generation(tenant)])
        mine = Where().ids(ids).equals("writing", token)
        await self.store.set_payload(TenantScope(tenant), COLLECTION, mine, {"writing": ""})

    def _marked_records(self, documents: Iterable[RepoDocument], token: str) -> list[Record]:
        """Returns the records of documents that are being written, with the token of the write."""
        return [document_record(replace(one, writing=token), self.space) for one in documents]

    def _next_generation(self, tenant: str) -> Record:
        """Returns the record written before and after a change: no two states of the corpus share a generation."""
        payload = {"tenant": tenant, "kind": CORPUS, "generation": _new_token()}
        return Record(self.space.id_of(tenant, CORPUS, ""), payload)

    async def _read_stored(self, tenant: str, names: Sequence[DocName]) -> dict[str, StoredDocument]:
        """Reads documents with their chunks, by path."""
        documents: dict[str, RepoDocument] = {}
        chunks: dict[str, dict[str, Chunk]] = defaultdict(dict)
        async for payload in self._payloads(TenantScope(tenant), _of_names(names)):
            if payload["kind"] == DOCUMENT_KIND:
                documents[payload["path"]] = RepoDocument.from_payload(payload)
            else:
                found = Chunk.from_payload(payload)
                chunks[found.path][found.record_ref] = found
        return {name.path: StoredDocument(documents.get(name.path), chunks[name.path]) for name in names}

    async def _fetch_documents(self, tenant: str, names: Sequence[DocName]) -> list[RepoDocument]:
        ids = [document_id(self.space, tenant, name) for name in names]
        found = await self.store.fetch(TenantScope(tenant), COLLECTION, ids)
        return [RepoDocument.from_payload(record.payload) for record in found]

    async def _payloads(self, scope: TenantScope, where: Where) -> AsyncIterator[Mapping[str, Any]]:
        async for record in every_record(self.store, TenantScope(scope.tenant), COLLECTION, where):
            yield record.payload

    async def _offload(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


def _new_token() -> str:
    return secrets.token_hex(8)


def _of_repo(where: Where, repo: str | None) -> Where:
    return where if repo is None else where.equals("repo", checked_repo(repo))


def _of_names(names: Sequence[DocName]) -> Where:
    """Selects all records of these documents of one repository; `a/b` and `c.md` could also be `a` and `b/c.md`."""
    refs = [name.source_ref for name in names]
    return Where().any_of("repo", {name.repo for name in names}).any_of("source_ref", refs)


def _check_words(by: str, why: str) -> None:
    for name, value in (("by", by), ("why", why)):
        if not value.strip() or len(value) > MAX_WORDS:
            raise Invalid(f"{name} must be 1 to {MAX_WORDS} characters; say who rules on the document and why")
