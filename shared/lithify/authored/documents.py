"""Writes, lists and removes authored documents; every step may be repeated after a crash."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from redis.asyncio import Redis

from lithify.authored.document import AuthoredText, Origin, check_name, read_parts
from lithify.authored.library import Reserve, build_library, find_document, read_documents
from lithify.authored.records import (
    NodeRecords,
    document_filter,
    document_id,
    document_meta,
    document_record,
    edition_of,
    shared_scope,
)
from lithify.embedding import Embedder
from lithify.errors import Invalid, Misconfigured
from lithify.events import EVERY_TENANT, Clock, TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.rulebook.document import AuthoredDocument
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams.generations import AUTHORED, bump

T = TypeVar("T")

UNRESERVED: Final = Reserve(None)


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    document: AuthoredText
    parts: AuthoredDocument
    created: bool
    changed: bool  # false if the stored document was the same already


@dataclass(frozen=True, slots=True)
class AuthoredDocuments:
    """The authored documents of all tenants.

    A document's text is one record, and rules are read from it, so that one write replaces all rules at once. The
    records of its nodes follow; their edition is marked at the text last. Whoever finds another mark writes them again.
    """

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    redis: Redis
    executor: Executor
    clock: Clock
    core: frozenset[str]
    reserve: Reserve = UNRESERVED
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def put(self, scope: TenantScope, name: str, raw: bytes, origin: Origin) -> WrittenDocument:
        """Writes a document, in force and searchable on return; a document that was the same already costs no write.

        Raises Invalid, also if the hard rules would outgrow their reserve and the next start fail. Raises Unavailable
        when interrupted: the same call finishes it, and so does the next start.
        """
        parts = await self.parts(name, raw)
        await self._check_reserve(scope, parts)
        known = await self.find(scope, name)
        document = AuthoredText(scope.tenant, name, raw.decode(), origin=origin, ts=self.clock())
        if known and self._is_settled(known) and (known.text, known.origin) == (document.text, origin):
            return WrittenDocument(known, parts, created=False, changed=False)
        await self._write(document, parts)
        return WrittenDocument(document, parts, created=known is None, changed=True)

    async def delete(self, scope: TenantScope, name: str) -> bool:
        """Removes a document, whose rules bind nobody on return. Says whether there was one."""
        async with self._writing:
            known = await self.find(scope, name)
            await self.store.delete(shared_scope(scope), COLLECTION, document_filter(name))
            # Also for one that is gone: the call that removed it may have ended before this.
            await bump(self.redis, scope.tenant, AUTHORED)
        return known is not None

    async def find(self, scope: TenantScope, name: str) -> AuthoredText | None:
        return await find_document(scope, self.store, check_name(name), self.embedder.manifest.family)

    async def all(self, scope: TenantScope) -> list[AuthoredText]:
        """Reads all documents of a tenant, by name."""
        return await read_documents(scope, self.store)

    async def parts(self, name: str, raw: bytes) -> AuthoredDocument:
        """Returns a document in its tiers. Raises Invalid."""
        return await self._run_aside(partial(read_parts, raw, check_name(name), core=name in self.core))

    async def settle(self) -> list[str]:
        """Finishes what a crash interrupted, and follows a change of core names or of the model; the names written."""
        stale = [one for one in await read_documents(EVERY_TENANT, self.store) if not self._is_settled(one)]
        for document in stale:
            await self._write(document, await self.parts(document.name, document.raw))
        return [document.name for document in stale]

    async def _check_reserve(self, scope: TenantScope, parts: AuthoredDocument) -> None:
        if not parts.hard or self.reserve.budget is None:
            return
        others = [document for document in await self.all(scope) if document.name != parts.source_doc]
        library = await self._run_aside(partial(build_library, others, self.core))
        try:
            self.reserve.check(library.put(parts))
        except Misconfigured as error:
            raise Invalid(str(error)) from None

    async def _write(self, document: AuthoredText, parts: AuthoredDocument) -> None:
        family = self.embedder.manifest.family
        scope = shared_scope(TenantScope(document.tenant))
        nodes = NodeRecords(self.embedder, self.analyser)
        async with self._writing:
            unfinished = replace(document, edition=None)
            await self.store.upsert(scope, COLLECTION, [document_record(unfinished, family)])
            await self.store.upsert(scope, COLLECTION, await self._run_aside(partial(nodes.make, document, parts)))
            left_over = document_filter(document.name).between("seq", lowest=len(parts.nodes))
            await self.store.delete(scope, COLLECTION, left_over)
            # Before the mark: a document that counts as finished must have been announced.
            await bump(self.redis, document.tenant, AUTHORED)
            await self._mark_finished(scope, document)

    async def _mark_finished(self, scope: TenantScope, document: AuthoredText) -> None:
        finished = replace(document, edition=self._edition(document))
        text = document_id(document.tenant, document.name, self.embedder.manifest.family)
        await self.store.set_payload(scope, COLLECTION, Where().ids([text]), {"meta": document_meta(finished)})

    def _is_settled(self, document: AuthoredText) -> bool:
        return document.edition == self._edition(document)

    def _edition(self, document: AuthoredText) -> str:
        return edition_of(document, core=document.name in self.core, fingerprint=self.embedder.fingerprint)

    async def _run_aside(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.executor, work)
