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
from lithify.docs import chunk as chunks_
from lithify.docs import document as documents_
from lithify.docs import trust as trust_
from lithify.docs.chunk import Chunk
from lithify.docs.corpus import CORPUS, REPOSITORY, Corpus, Shelf, read_corpus
from lithify.docs.document import Document, Lines
from lithify.docs.naming import DocName, checked_repo, parse_ref
from lithify.docs.sources import DocKind, Source, SourceKind
from lithify.docs.space import COLLECTION, Space
from lithify.docs.trust import Ruling, Trust, checked_trust
from lithify.docs.writing import (
    MARKERS,
    Change,
    Plan,
    Stored,
    chunk_id_of,
    chunk_records,
    document_id,
    document_record,
    plan,
)
from lithify.errors import Invalid, Unavailable
from lithify.events import Clock, TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.reading import every_record

# Files written together: the store syncs to disk once for all of them, and a crash repeats no more.
BATCH: Final = 64
MAX_WORDS: Final = 2000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Located:
    """A chunk and its place in the file; None while the document is being written."""

    chunk: Chunk
    lines: Lines | None


@dataclass(frozen=True, slots=True)
class Holdings:
    """The documents of all tenants.

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
    ) -> Change:
        """Found by its words on return; by its meaning once the job that embeds has run.

        Raises Invalid, or Unavailable when interrupted: the same call finishes it.
        """
        [change] = await self.put_all(scope, repo, [Source(path, text, kind, source_kind)], version=version)
        return change

    async def put_all(
        self, scope: TenantScope, repo: str, sources: Sequence[Source], /, *, version: str | None = None
    ) -> list[Change]:
        """Like `put` for many files at a few round trips together; the changes in the order of the sources."""
        names = [DocName(repo, source.path) for source in sources]
        if len(set(names)) != len(names):
            raise Invalid(f"a path occurs twice among {len(names)} files of {repo}; send each file once")
        changes: list[Change] = []
        async with self._writing:
            for batch in batched(sources, BATCH):
                changes += await self._put_batch(scope.tenant, repo, batch, version)
        return changes

    async def remove(self, scope: TenantScope, repo: str, path: str, /) -> bool:
        """Whether there was one; nothing of it is left on return, save the rulings about it."""
        return bool(await self.remove_all(scope, repo, [path]))

    async def remove_all(self, scope: TenantScope, repo: str, paths: Sequence[str], /) -> list[str]:
        """The paths that were there."""
        names = [DocName(repo, path) for path in paths]
        async with self._writing:
            found = await self._fetch_documents(scope.tenant, names)
            unfinished = self._unfinished(found, _drawn())
            tenant = TenantScope(scope.tenant)
            if unfinished:
                await self.store.upsert(tenant, COLLECTION, [*unfinished, self._moved(scope.tenant)])
            # Also of those not found: chunks come after their document, but nobody can promise what a disk kept.
            await self.store.delete(tenant, COLLECTION, _of_names(names))
            if unfinished:
                await self.store.upsert(tenant, COLLECTION, [self._moved(scope.tenant)])
        return [document.path for document in found]

    async def digests(self, scope: TenantScope, repo: str, /) -> dict[str, str]:
        """Of every stored file by its path, to compare with `Source.digest`: those that are equal need no `put`.

        An unfinished one has an empty digest.
        """
        return {one.path: one.digest if one.is_finished else "" for one in await self.documents(scope, repo)}

    async def catalogue(self, scope: TenantScope, /) -> list[Shelf]:
        """The repositories by name."""
        files: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        newest: dict[str, int] = {}
        for one in await self.documents(scope):
            files[one.repo] += 1
            chunks[one.repo] += len(one.lines)
            newest[one.repo] = max(newest.get(one.repo, 0), one.ts)
        synced = {one["repo"]: one async for one in self._payloads(scope, Where().equals("kind", REPOSITORY))}
        return [
            Shelf(
                repo,
                synced.get(repo, {}).get("version"),
                files[repo],
                chunks[repo],
                synced.get(repo, {}).get("ts") or newest.get(repo),
            )
            for repo in sorted({*files, *synced})
        ]

    async def documents(self, scope: TenantScope, repo: str | None = None, /) -> list[Document]:
        """By repository and path."""
        where = _of_repo(Where().equals("kind", documents_.KIND), repo)
        found = [Document.from_payload(payload) async for payload in self._payloads(scope, where)]
        return sorted(found, key=lambda one: (one.repo, one.path))

    async def document(self, scope: TenantScope, repo: str, path: str, /) -> Document | None:
        return next(iter(await self._fetch_documents(scope.tenant, [DocName(repo, path)])), None)

    async def chunks(self, scope: TenantScope, repo: str, path: str, /) -> list[Located]:
        """In the order of the file."""
        stored = (await self._stored(scope.tenant, [DocName(repo, path)]))[path]
        lines = stored.document.lines if stored.document else {}
        order = {chunk_id: number for number, chunk_id in enumerate(lines)}
        found = sorted(stored.chunks.values(), key=lambda one: (order.get(one.chunk_id, len(order)), one.chunk_id))
        return [Located(one, lines.get(one.chunk_id)) for one in found]

    async def get(self, scope: TenantScope, record_ref: str, /) -> Located | None:
        """Raises Invalid for what is not a reference."""
        name, chunk_id = parse_ref(record_ref)
        own = self.space.id_of(scope.tenant, chunks_.KIND, record_ref)
        whole = document_id(self.space, scope.tenant, name)
        found = await self.store.fetch(TenantScope(scope.tenant), COLLECTION, [own, whole])
        by_id = {record.id: record.payload for record in found}
        if own not in by_id:
            return None
        lines = Document.from_payload(by_id[whole]).lines if whole in by_id else {}
        return Located(Chunk.from_payload(by_id[own]), lines.get(chunk_id))

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
            now, tenant = self.clock(), TenantScope(scope.tenant)
            ruling = Ruling(
                *(_drawn(), scope.tenant, repo, path, document.trust, trust, by, why, now),
                document.content_hash,
            )
            id_ = self.space.id_of(scope.tenant, trust_.KIND, ruling.ruling_id)
            await self.store.upsert(tenant, COLLECTION, [Record(id_, ruling.payload())])
            ruled, token = replace(document, trust=trust, ruling=ruling), _drawn()
            unfinished = self._unfinished([ruled], token)
            await self.store.upsert(tenant, COLLECTION, [*unfinished, self._moved(scope.tenant)])
            chunks = _of_names([document.name]).equals("kind", chunks_.KIND)
            await self.store.set_payload(tenant, COLLECTION, chunks, {"trust": trust})
            if document.is_finished:
                await self._finish(scope.tenant, [ruled], token)
        return ruling

    async def rulings(self, scope: TenantScope, repo: str | None = None, /) -> list[Ruling]:
        """Newest first."""
        where = _of_repo(Where().equals("kind", trust_.KIND), repo)
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

    async def corpus(self, scope: TenantScope, /) -> Corpus:
        return await read_corpus(self.store, scope)

    async def unembedded(self, scope: TenantScope, /) -> int:
        """How many chunks still wait to be embedded."""
        return await self.store.count(TenantScope(scope.tenant), COLLECTION, Where().present(MARKERS))

    async def _put_batch(self, tenant: str, repo: str, sources: Sequence[Source], version: str | None) -> list[Change]:
        stored = await self._stored(tenant, [DocName(repo, source.path) for source in sources])
        now = self.clock()
        plans = await self._aside(
            lambda: [plan(tenant, repo, source, stored[source.path], version, now) for source in sources]
        )
        fresh = [one for one in plans if not one.known]
        if fresh:
            await self._write(tenant, fresh)
        return [one.change for one in plans]

    async def _write(self, tenant: str, plans: Sequence[Plan]) -> None:
        scope, token = TenantScope(tenant), _drawn()
        written = [chunk for one in plans for chunk in one.written]
        made = await self._aside(partial(chunk_records, written, self.space, self.analyser))
        unfinished = self._unfinished([one.document for one in plans], token)
        # In this order also inside the call: a crash in it must not leave chunks whose document seems finished.
        await self.store.upsert(scope, COLLECTION, [*unfinished, self._moved(tenant), *made])
        framed = {chunk_id_of(self.space, chunk): {"trust": chunk.trust} for one in plans for chunk in one.framed}
        if framed:
            await self.store.set_payloads(scope, COLLECTION, framed)
        removed = [ref for one in plans for ref in one.change.removed]
        if removed:
            ids = [self.space.id_of(tenant, chunks_.KIND, ref) for ref in removed]
            await self.store.delete(scope, COLLECTION, Where().ids(ids))
        await self._verify(tenant, plans, token)

    async def _verify(self, tenant: str, plans: Sequence[Plan], token: str) -> None:
        """Finishes what is stored as it was meant; another process that wrote the same document may have mixed in.

        Whichever of the two finishes first, a mixture ends marked as unfinished: who finds it marks it with a token
        that nobody waits for.
        """
        stored = await self._stored(tenant, [one.document.name for one in plans])
        mixed = [one.document for one in plans if stored[one.document.path].chunks != one.chunks]
        if mixed:
            ids = [document_id(self.space, tenant, one.name) for one in mixed]
            await self.store.set_payload(TenantScope(tenant), COLLECTION, Where().ids(ids), {"writing": _drawn()})
        await self._finish(tenant, [one.document for one in plans], token)
        if mixed:
            names = ", ".join(sorted(one.path for one in mixed))
            raise Unavailable(f"{names}: written by two processes at once; send it again")

    async def _finish(self, tenant: str, documents: Iterable[Document], token: str) -> None:
        """Only those that are still of this write."""
        ids = [document_id(self.space, tenant, one.name) for one in documents]
        await self.store.upsert(TenantScope(tenant), COLLECTION, [self._moved(tenant)])
        mine = Where().ids(ids).equals("writing", token)
        await self.store.set_payload(TenantScope(tenant), COLLECTION, mine, {"writing": ""})

    def _unfinished(self, documents: Iterable[Document], token: str) -> list[Record]:
        return [document_record(replace(one, writing=token), self.space) for one in documents]

    def _moved(self, tenant: str) -> Record:
        """Written before and after a change, so that no two states of the corpus share a generation."""
        payload = {"tenant": tenant, "kind": CORPUS, "generation": _drawn()}
        return Record(self.space.id_of(tenant, CORPUS, ""), payload)

    async def _stored(self, tenant: str, names: Sequence[DocName]) -> dict[str, Stored]:
        """By path."""
        documents: dict[str, Document] = {}
        chunks: dict[str, dict[str, Chunk]] = defaultdict(dict)
        async for payload in self._payloads(TenantScope(tenant), _of_names(names)):
            if payload["kind"] == documents_.KIND:
                documents[payload["path"]] = Document.from_payload(payload)
            else:
                found = Chunk.from_payload(payload)
                chunks[found.path][found.record_ref] = found
        return {name.path: Stored(documents.get(name.path), chunks[name.path]) for name in names}

    async def _fetch_documents(self, tenant: str, names: Sequence[DocName]) -> list[Document]:
        ids = [document_id(self.space, tenant, name) for name in names]
        found = await self.store.fetch(TenantScope(tenant), COLLECTION, ids)
        return [Document.from_payload(record.payload) for record in found]

    async def _payloads(self, scope: TenantScope, where: Where) -> AsyncIterator[Mapping[str, Any]]:
        async for record in every_record(self.store, TenantScope(scope.tenant), COLLECTION, where):
            yield record.payload

    async def _aside(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)


def _drawn() -> str:
    return secrets.token_hex(8)


def _of_repo(where: Where, repo: str | None) -> Where:
    return where if repo is None else where.equals("repo", checked_repo(repo))


def _of_names(names: Sequence[DocName]) -> Where:
    """All records of these documents of one repository; `a/b` and `c.md` could also be `a` and `b/c.md`."""
    refs = [name.source_ref for name in names]
    return Where().any_of("repo", {name.repo for name in names}).any_of("source_ref", refs)


def _check_words(by: str, why: str) -> None:
    for name, value in (("by", by), ("why", why)):
        if not value.strip() or len(value) > MAX_WORDS:
            raise Invalid(f"{name} must be 1 to {MAX_WORDS} characters; say who rules on the document and why")
