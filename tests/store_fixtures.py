"""The store three times: Qdrant Edge, qdrant-client's local mode, and a real Qdrant server."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from qdrant_client import AsyncQdrantClient

from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events import EVERY_TENANT
from lithify.store import CollectionSpec, EdgeStore, ServerStore, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from tests.contract.qdrant_server import QdrantServer
from tests.contract.samples import TIERS

BACKENDS = ("edge", "local", pytest.param("server", marks=pytest.mark.server))

NO_SERVER = "no Qdrant server: set LITHIFY_TEST_QDRANT_BIN (see deploy/tools/fetch-qdrant) or LITHIFY_TEST_QDRANT_URL"


def missing_server(reason: str) -> None:
    if os.environ.get("LITHIFY_REQUIRE_SERVER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[QdrantServer]:
    """A server the test may stop, kill and start."""
    binary = os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    if not binary:
        missing_server("needs a server of its own: set LITHIFY_TEST_QDRANT_BIN (see deploy/tools/fetch-qdrant)")
    server = QdrantServer(Path(binary or ""), tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running server that is named, else one started from the binary that is named."""
    url, binary = os.environ.get("LITHIFY_TEST_QDRANT_URL"), os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    if url:
        yield url
        return
    if not binary:
        missing_server(NO_SERVER)
    server = QdrantServer(Path(binary or ""), tmp_path_factory.mktemp("qdrant"))
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def edge_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeStore]:
    store = EdgeStore(tmp_path_factory.mktemp("edge"))
    yield store
    asyncio.run(store.close())


@pytest_asyncio.fixture
async def bare_store(backend: str, request: pytest.FixtureRequest) -> AsyncIterator[VectorStore]:
    """A store with whatever earlier tests left in it."""
    if backend == "edge":
        yield request.getfixturevalue("edge_store")
        return
    local = AsyncQdrantClient(":memory:") if backend == "local" else None
    url = "http://local" if backend == "local" else request.getfixturevalue("server_url")
    # The client's connections belong to the event loop of one test.
    store = ServerStore(url, client=local)
    yield store
    await store.close()


@pytest.fixture
def spec() -> CollectionSpec:
    return CollectionSpec("lithify-contract", TIERS, "model-a")


@pytest_asyncio.fixture
async def store(bare_store: VectorStore, spec: CollectionSpec) -> VectorStore:
    """Holds the collection of `spec`, emptied: making one takes a server a second."""
    await bare_store.ensure(spec)
    await bare_store.delete(EVERY_TENANT, spec.name, Where().present("tenant"))
    return bare_store


@pytest.fixture
def name(spec: CollectionSpec) -> str:
    return spec.name


@pytest.fixture
def hash_embedder() -> HashEmbedder:
    """Equal words give equal vectors, without a model; tiers as a real profile has them."""
    return HashEmbedder(32, (8, 16, 32))


@pytest_asyncio.fixture
async def memories(bare_store: VectorStore, hash_embedder: HashEmbedder) -> VectorStore:
    """Holds the empty collection `memories` for the vectors of `hash_embedder`, on each of the backends."""
    await bare_store.ensure(CollectionSpec(COLLECTION, (8, 16, 32), hash_embedder.fingerprint))
    await bare_store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    return bare_store
