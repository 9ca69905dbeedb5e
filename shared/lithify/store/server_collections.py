"""The collections on a Qdrant server: a name is an alias, so that other records can be put behind it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from lithify.errors import Misconfigured, Unavailable
from lithify.memory.vectors.tiers import TIER_NAMES
from lithify.store.checks import check_fit
from lithify.store.contract import CollectionSpec
from lithify.store.records import LEXICAL
from lithify.store.schema import INDEXES, place_of_records
from lithify.store.server_codec import GRAPHS, LEXICAL_PARAMS, index_params, server_errors, vector_params

# Under this key of a collection's metadata: others may use the same server.
METADATA: Final = "lithify"


class ServerCollections:
    """Several processes may call this at once: every step may be repeated."""

    def __init__(self, client: AsyncQdrantClient, url: str) -> None:
        self._client = client
        self._url = url

    async def ensure(self, spec: CollectionSpec) -> None:
        with server_errors(self._url):
            pointers = await self._pointers()
            if spec.name not in pointers:
                place = place_of_records(spec.name, set(pointers.values()))
                await self._create(place, spec)
                await self._client.update_collection_aliases([_create_alias(spec.name, place)])
            stored = await self.spec(spec.name)
            check_fit(spec, stored)
            await self._index(spec.name)

    async def spec(self, name: str) -> CollectionSpec:
        with server_errors(self._url):
            if name not in await self._pointers():
                raise Unavailable(f"there is no collection {name} on Qdrant at {self._url}")
            info = await self._client.get_collection(name)
        return _spec(name, info.config)

    async def specs(self) -> list[CollectionSpec]:
        with server_errors(self._url):
            infos = [(name, await self._client.get_collection(name)) for name in sorted(await self._pointers())]
        return [_spec(name, info.config) for name, info in infos if _is_ours(info.config)]

    async def records_of(self, name: str) -> str:
        with server_errors(self._url):
            pointers = await self._pointers()
        if name not in pointers:
            raise Unavailable(f"there is no collection {name} on Qdrant at {self._url}")
        return pointers[name]

    async def switch(self, name: str, other: str) -> None:
        here = await self.records_of(name)
        there = await self.records_of(other)
        with server_errors(self._url):
            await self._client.update_collection_aliases(
                [_delete_alias(name), _delete_alias(other), _create_alias(name, there), _create_alias(other, here)]
            )

    async def drop(self, name: str) -> None:
        """Removes the records; the server removes the name together with them."""
        with server_errors(self._url):
            if (records := (await self._pointers()).get(name)) is not None:
                await self._client.delete_collection(records)

    async def _pointers(self) -> dict[str, str]:
        answer = await self._client.get_aliases()
        return {alias.alias_name: alias.collection_name for alias in answer.aliases}

    async def _create(self, place: str, spec: CollectionSpec) -> None:
        """Creates a collection.

        One that is there already was just made by another process, or by one that died before naming it.
        """
        try:
            await self._client.create_collection(
                place,
                vectors_config=vector_params(spec),
                sparse_vectors_config={LEXICAL: LEXICAL_PARAMS},
                hnsw_config=GRAPHS,
                metadata={METADATA: {"fingerprint": spec.fingerprint}},
            )
        except (UnexpectedResponse, ValueError):
            if not await self._client.collection_exists(place):
                raise

    async def _index(self, name: str) -> None:
        known = (await self._client.get_collection(name)).payload_schema
        for field, kind in INDEXES.items():
            if field not in known:
                await self._client.create_payload_index(name, field, index_params(kind), wait=True)


def _create_alias(name: str, place: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(create_alias=models.CreateAlias(alias_name=name, collection_name=place))


def _delete_alias(name: str) -> models.DeleteAliasOperation:
    return models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))


def _is_ours(config: models.CollectionConfig) -> bool:
    return METADATA in (config.metadata or {})


def _spec(name: str, config: models.CollectionConfig) -> CollectionSpec:
    vectors = config.params.vectors
    if not _is_ours(config) or not isinstance(vectors, Mapping):
        raise Misconfigured(f"collection {name} on the Qdrant server was not made by Lithify; use another server")
    l1, l2, l3 = (vectors[tier].size for tier in TIER_NAMES)
    return CollectionSpec(name, (l1, l2, l3), (config.metadata or {})[METADATA]["fingerprint"])


# The server copies the whole collection before it answers.
TIMEOUT: Final = httpx.Timeout(30.0, read=600.0)


async def fetch_snapshot(http: httpx.AsyncClient, records: str, folder: Path) -> Path:
    """Brings a snapshot to a folder here and leaves none on the server; Qdrant's own upload restores it."""
    answer = await http.post(f"/collections/{records}/snapshots", params={"wait": "true"})
    answer.raise_for_status()
    made = answer.json()["result"]
    remote = f"/collections/{records}/snapshots/{made['name']}"
    try:
        return await _download(http, remote, folder / made["name"], made.get("checksum"))
    finally:
        await http.delete(remote)


async def _download(http: httpx.AsyncClient, remote: str, target: Path, checksum: str | None) -> Path:
    folder_partial = target.with_name(f"{target.name}.partial")
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    async with http.stream("GET", remote) as answer:
        answer.raise_for_status()
        with folder_partial.open("wb") as file:
            async for chunk in answer.aiter_bytes():
                digest.update(chunk)
                file.write(chunk)
    if checksum not in (None, digest.hexdigest()):
        raise Unavailable(f"the snapshot {target.name} arrived damaged; try again")
    return folder_partial.rename(target)
