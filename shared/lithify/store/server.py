"""The vector store on a Qdrant server, for processes that share it."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from qdrant_client import AsyncQdrantClient, models

from lithify.batching import batched_by_weight
from lithify.errors import Doubtful, Invalid, LithifyError, Misconfigured
from lithify.events import AnyTenant
from lithify.store.checks import (
    check_deletion,
    check_queries,
    check_records,
    check_scroll,
    check_tiers,
    check_unmoved,
    check_update,
)
from lithify.store.contract import CollectionSpec, Erasure, PayloadsById, Query, StoreHealth, TiersById
from lithify.store.reading import fetch_in_order
from lithify.store.records import Hit, Page, Record, best_first
from lithify.store.scoping import confine
from lithify.store.server_codec import (
    engine_filter,
    engine_point,
    engine_query,
    engine_update,
    engine_vectors,
    hit_of,
    record_of,
    request_bytes,
    server_errors,
)
from lithify.store.server_collections import TIMEOUT, ServerCollections, fetch_snapshot
from lithify.store.where import EVERY_RECORD, Where

# The first release with metadata on collections, where the fingerprint is kept.
OLDEST_SERVER: Final = (1, 16)

# A write waits for the server's disk, a new index for the points already there.
TIMEOUT_SECONDS: Final = 30

QDRANT_PORT: Final = 6333

# The server's default limit is 32 MB a request; a quarter leaves room for what the estimate misses.
MAX_REQUEST_BYTES: Final = 8 * 1024 * 1024

# How long a process may go on with vectors of its model after another one's records were put behind a name.
SPEC_AGE_S: Final = 1.0


class ServerStore:
    """Fulfils VectorStore through qdrant-client: every call waits for the server to have completed it, or raises."""

    def __init__(self, url: str, *, api_key: str | None = None, client: AsyncQdrantClient | None = None) -> None:
        self._url = add_port(url)
        self._headers = {"api-key": api_key} if api_key else {}
        # Our own check of the version: the client's wants the server to be at most one release older than itself.
        self._client = client or AsyncQdrantClient(
            url=self._url, api_key=api_key, timeout=TIMEOUT_SECONDS, check_compatibility=False
        )
        self._collections = ServerCollections(self._client, self._url)
        self._ensured: dict[str, CollectionSpec] = {}
        self._specs: dict[str, tuple[CollectionSpec, float]] = {}  # with the time they were read

    async def ensure(self, spec: CollectionSpec) -> None:
        with server_errors(self._url):
            version = (await self._client.info()).version
        if reason := why_too_old(version):
            raise Misconfigured(reason)
        await self._collections.ensure(spec)
        self._ensured[spec.name] = spec

    async def upsert(
        self, scope: AnyTenant, collection: str, records: Sequence[Record], /, *, replacing: Where = EVERY_RECORD
    ) -> None:
        check_records(scope, records, await self._spec(collection))
        replaced = engine_filter(confine(scope, replacing))
        async with self._explained_refusals(collection):
            for batch in batched_by_weight(records, request_bytes, MAX_REQUEST_BYTES):
                points = [engine_point(record) for record in batch]
                check_completed(await self._client.upsert(collection, points, wait=True, update_filter=replaced))

    async def query_batch(self, scope: AnyTenant, collection: str, queries: Sequence[Query], /) -> list[list[Hit]]:
        check_queries(queries, await self._spec(collection))
        requests = [engine_query(query, confine(scope, query.where)) for query in queries]
        async with self._explained_refusals(collection):
            answers = await self._client.query_batch_points(collection, requests)
        return [best_first(hit_of(point) for point in answer.points) for answer in answers]

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
        with server_errors(self._url):
            points, following = await self._client.scroll(
                collection,
                scroll_filter=engine_filter(confine(scope, where)),
                limit=limit,
                offset=after,
                with_payload=True,
                with_vectors=list(with_vectors),
            )
        return Page([record_of(point) for point in points], None if following is None else str(following))

    async def count(self, scope: AnyTenant, collection: str, where: Where, /) -> int:
        with server_errors(self._url):
            answer = await self._client.count(collection, count_filter=engine_filter(confine(scope, where)), exact=True)
        return answer.count

    async def delete(self, scope: AnyTenant, collection: str, where: Where, /) -> None:
        check_deletion(scope, where)
        await self._spec(collection)
        selected = models.FilterSelector(filter=engine_filter(confine(scope, where)))
        with server_errors(self._url):
            check_completed(await self._client.delete(collection, selected, wait=True))

    async def set_payload(self, scope: AnyTenant, collection: str, where: Where, payload: Mapping[str, Any], /) -> None:
        check_update(payload)
        await self._spec(collection)
        selected = engine_filter(confine(scope, where))
        with server_errors(self._url):
            check_completed(await self._client.set_payload(collection, dict(payload), points=selected, wait=True))

    async def set_payloads(self, scope: AnyTenant, collection: str, payloads: PayloadsById, /) -> None:
        if not payloads:
            return
        for payload in payloads.values():
            check_update(payload)
        await self._spec(collection)
        updates = [engine_update(confine(scope, Where().ids([id_])), payload) for id_, payload in payloads.items()]
        with server_errors(self._url):
            for result in await self._client.batch_update_points(collection, updates, wait=True):
                check_completed(result)

    async def set_vectors(self, scope: AnyTenant, collection: str, tiers: TiersById, /) -> None:
        check_tiers(tiers, await self._spec(collection))
        stored = await self.fetch(scope, collection, list(tiers))
        updates = [Record(record.id, {}, tiers[record.id]) for record in stored]
        for batch in batched_by_weight(updates, request_bytes, MAX_REQUEST_BYTES):
            points = [engine_vectors(record.id, record.vectors) for record in batch]
            async with self._explained_refusals(collection):
                check_completed(await self._client.update_vectors(collection, points, wait=True))

    async def snapshot(self, collection: str, folder: Path) -> Path:
        records = await self._collections.records_of(collection)
        with server_errors(self._url):
            async with httpx.AsyncClient(base_url=self._url, headers=self._headers, timeout=TIMEOUT) as http:
                return await fetch_snapshot(http, records, folder)

    async def collections(self) -> list[CollectionSpec]:
        return await self._collections.specs()

    async def switch(self, name: str, other: str) -> None:
        await self._collections.switch(name, other)
        # Whoever switches knows what stands behind the names now.
        self._specs.clear()
        self._ensured.clear()

    async def drop(self, collection: str) -> None:
        await self._collections.drop(collection)
        self._specs.pop(collection, None)

    async def health(self) -> StoreHealth:
        version: str | None = None
        try:
            with server_errors(self._url):
                version = (await self._client.info()).version
                # The server tells its version to everybody; this is what it tells only who has the right key.
                await self._client.get_collections()
        except LithifyError as error:
            return StoreHealth("qdrant", ready=False, version=version, reason=str(error))
        return StoreHealth("qdrant", ready=(reason := why_too_old(version)) is None, version=version, reason=reason)

    async def erase_deleted(self, collection: str, *, most: int | None = None) -> Erasure:  # noqa: ARG002 - a server
        """Leaves it to the server, whose optimiser rewrites segments with many deletions; there is no call for it."""
        return Erasure.ENGINE

    async def erase_postponed(self) -> list[str]:
        return []

    async def close(self) -> None:
        await self._client.close()

    async def _spec(self, collection: str) -> CollectionSpec:
        """Raises Unavailable once records of another model stand behind the name: then nothing may be written there."""
        spec, read_at = self._specs.get(collection, (None, 0.0))
        if spec is None or time.monotonic() - read_at >= SPEC_AGE_S:
            spec = await self._collections.spec(collection)
            self._specs[collection] = (spec, time.monotonic())
        check_unmoved(self._ensured.get(collection, spec), spec)
        return spec

    @asynccontextmanager
    async def _explained_refusals(self, collection: str) -> AsyncIterator[None]:
        """Looks, after a refusal, at the collection again.

        It may only mean that another model's records, of another length, were just put behind the name.
        """
        try:
            with server_errors(self._url):
                yield
        except Invalid:
            self._specs.pop(collection, None)
            await self._spec(collection)
            raise


def add_port(url: str) -> str:
    """Adds the port to an address that names none: Qdrant listens on 6333."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise Misconfigured(f"LITHIFY_QDRANT_URL {url!r} is not an address: {error}") from error
    return url if port is not None else parts._replace(netloc=f"{parts.netloc}:{QDRANT_PORT}").geturl()


def why_too_old(version: str) -> str | None:
    major, minor = (int(part) for part in version.split(".")[:2])
    if (major, minor) >= OLDEST_SERVER:
        return None
    return f"Qdrant {version} is too old; Lithify needs {'.'.join(map(str, OLDEST_SERVER))} or newer"


def check_completed(result: models.UpdateResult) -> None:
    """Raises Doubtful unless a write was completed: `acknowledged` may still fail, and a timed-out wait too.

    Neither may be taken for done.
    """
    if result.status != models.UpdateStatus.COMPLETED:
        raise Doubtful(f"Qdrant has not completed a write, it says {result.status.value}; it must be repeated")
