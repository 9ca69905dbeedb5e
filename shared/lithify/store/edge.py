"""The vector store inside the process: the Qdrant engine on a folder of our own."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, TypeVar, TypeVarTuple

from lithify.errors import LithifyError
from lithify.events import AnyTenant
from lithify.store.checks import check_deletion, check_queries, check_records, check_scroll, check_tiers, check_update
from lithify.store.contract import CollectionSpec, Erasure, PayloadsById, Query, StoreHealth, TiersById
from lithify.store.edge_collection import EdgeCollection
from lithify.store.edge_folder import EdgeFolder
from lithify.store.reading import fetch_in_order
from lithify.store.records import Hit, Page, Record
from lithify.store.scoping import ScopedWhere, confine
from lithify.store.where import EVERY_RECORD, Where

Args = TypeVarTuple("Args")
T = TypeVar("T")

# The binding keeps the interpreter lock while it works, so a thread frees nobody: a short reading is done where it is
# asked for, without two changes of thread. Turning more records than this into ours (16 ms) lets others in between.
LONG_READING: Final = 512
READERS: Final = 2


class EdgeStore:
    """Fulfils VectorStore for one process; a second one on the folder gets Misconfigured.

    One thread writes, in the order asked; searches go on beside it, between the engine's steps.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = EdgeFolder(folder)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._erasing = asyncio.Lock()

    async def ensure(self, spec: CollectionSpec) -> None:
        await _run(self._writer, self._folder.ensure, spec)

    async def upsert(
        self, scope: AnyTenant, collection: str, records: Sequence[Record], /, *, replacing: Where = EVERY_RECORD
    ) -> None:
        await _run(self._writer, self._upsert, scope, collection, records, replacing)

    async def query_batch(self, scope: AnyTenant, collection: str, queries: Sequence[Query], /) -> list[list[Hit]]:
        opened = await self._open(collection)
        check_queries(queries, opened.spec)
        asked = [(query, confine(scope, query.where)) for query in queries]
        return await self._read(sum(query.limit for query in queries), opened.query_batch, asked)

    async def fetch(
        self, scope: AnyTenant, collection: str, ids: Sequence[str], /, with_vectors: Sequence[str] = ()
    ) -> list[Record]:
        return await fetch_in_order(self, scope, collection, ids, with_vectors=with_vectors)

    async def scroll(
        self,
        scope: AnyTenant,
        collection: str,
        where: Where,
        /,
        *,
        limit: int,
        after: str | None = None,
        with_vectors: Sequence[str] = (),
    ) -> Page:
        check_scroll(limit, after, with_vectors)
        opened = await self._open(collection)
        return await self._read(limit, opened.scroll, confine(scope, where), limit, after, with_vectors)

    async def count(self, scope: AnyTenant, collection: str, where: Where, /) -> int:
        opened = await self._open(collection)
        return await self._read(1, opened.count, confine(scope, where))

    async def delete(self, scope: AnyTenant, collection: str, where: Where, /) -> None:
        check_deletion(scope, where)
        await _run(self._writer, self._delete, collection, confine(scope, where))

    async def set_payload(self, scope: AnyTenant, collection: str, where: Where, payload: Mapping[str, Any], /) -> None:
        check_update(payload)
        await _run(self._writer, self._set_payloads, collection, [(confine(scope, where), payload)])

    async def set_payloads(self, scope: AnyTenant, collection: str, payloads: PayloadsById, /) -> None:
        for payload in payloads.values():
            check_update(payload)
        updates = [(confine(scope, Where().ids([id_])), payload) for id_, payload in payloads.items()]
        if updates:
            await _run(self._writer, self._set_payloads, collection, updates)

    async def set_vectors(self, scope: AnyTenant, collection: str, tiers: TiersById, /) -> None:
        await _run(self._writer, self._set_vectors, collection, confine(scope, Where().ids(tiers)), tiers)

    async def snapshot(self, collection: str, folder: Path) -> Path:
        """Writes wait meanwhile, reads do not. An EdgeStore can be opened on the folder."""
        return await _run(self._writer, self._folder.snapshot, collection, folder)

    async def collections(self) -> list[CollectionSpec]:
        return self._folder.specs()

    async def switch(self, name: str, other: str) -> None:
        await _run(self._writer, self._folder.switch, name, other)

    async def drop(self, collection: str) -> None:
        await _run(self._writer, self._folder.drop, collection)

    async def erase_deleted(self, collection: str, *, most: int | None = None) -> Erasure:
        """Reads and writes go on meanwhile; 3 s per 20,000 records on two quiet cores, and room for all of them again.

        See `store/edge_copy.py` for why it takes a copy.
        """
        async with self._erasing:
            copy = await _run(self._writer, self._folder.begin_copy, collection, most)
            if copy is None:
                return Erasure.POSTPONED
            try:
                while await _run(self._writer, copy.copy_page):
                    pass
                await _run(self._writer, self._folder.put_in_place, copy)
            finally:
                await _run(self._writer, self._folder.abandon, copy)
        return Erasure.DONE

    async def erase_postponed(self) -> list[str]:
        names = self._folder.stale()
        for name in names:
            await self.erase_deleted(name)
        return names

    async def optimise(self, collection: str) -> bool:
        """Packs the segments and frees the room of deleted records; False if there was nothing to do.

        Only `lithify bench` calls it: the whole process stands still meanwhile, about 15 s per 100,000 points.
        """
        return await _run(self._writer, self._optimise, collection)

    async def health(self) -> StoreHealth:
        engine = StoreHealth("qdrant-edge", ready=True, version=version("qdrant-edge-py"))
        try:
            for spec in self._folder.specs():
                await self._open(spec.name)
        except LithifyError as error:
            return StoreHealth(engine.engine, ready=False, version=engine.version, reason=str(error))
        return engine

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    # The writing thread looks the collection up itself: a write queued behind a switch goes where the name points then.

    def _upsert(self, scope: AnyTenant, collection: str, records: Sequence[Record], replacing: Where) -> None:
        check_records(scope, records, self._folder.open(collection).spec)
        replaced = confine(scope, replacing)
        self._folder.write(collection, lambda kept: kept.upsert(records, replaced))

    def _delete(self, collection: str, where: ScopedWhere) -> None:
        self._folder.write(collection, lambda kept: kept.delete(where))

    def _set_payloads(self, collection: str, updates: Sequence[tuple[ScopedWhere, Mapping[str, Any]]]) -> None:
        self._folder.write(collection, lambda kept: kept.set_payloads(updates))

    def _set_vectors(self, collection: str, stored: ScopedWhere, tiers: TiersById) -> None:
        check_tiers(tiers, self._folder.open(collection).spec)
        self._folder.write(collection, lambda kept: kept.set_vectors(stored, tiers))

    def _optimise(self, collection: str) -> bool:
        return self._folder.open(collection).optimise()

    def _close(self) -> None:
        self._readers.shutdown()
        self._writer.shutdown()
        self._folder.close()

    async def _read(self, records: int, call: Callable[[*Args], T], *args: *Args) -> T:
        if records > LONG_READING:
            return await _run(self._readers, call, *args)
        found = call(*args)
        # Whoever reads page after page would keep the loop for itself otherwise.
        await asyncio.sleep(0)
        return found

    async def _open(self, collection: str) -> EdgeCollection:
        """Opens a collection at its first use, by the writing thread, so that nobody opens it twice."""
        opened = self._folder.find_open(collection)
        return await _run(self._writer, self._folder.open, collection) if opened is None else opened


async def _run(executor: Executor, call: Callable[[*Args], T], *args: *Args) -> T:
    return await asyncio.get_running_loop().run_in_executor(executor, call, *args)
