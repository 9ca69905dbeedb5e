"""The rules of a prompt: read once, read again when a document changed, and served through outages."""

import pytest
from redis.asyncio import Redis

from lithify.authored import AuthoredDocuments
from lithify.authored.reader import AuthoredReader
from lithify.embedding import HashEmbedder
from lithify.errors import Unavailable
from lithify.store import VectorStore
from tests.unit.authored.authored_parts import (
    ACME,
    CORE,
    FragileStore,
    documents_on,
    lost_redis,
    on_store,
    put,
    reader_on,
    rules_shown,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@pytest.fixture
def store(memories: VectorStore) -> FragileStore:
    return FragileStore(memories)


@pytest.fixture
def documents(
    memories: VectorStore, store: FragileStore, redis: Redis, hash_embedder: HashEmbedder
) -> AuthoredDocuments:
    return on_store(documents_on(memories, redis, hash_embedder), store)


def cut_off(documents: AuthoredDocuments) -> AuthoredReader:
    """A reader whose Redis is away."""
    return AuthoredReader(documents.store, lost_redis(), CORE, documents.embedder.manifest.family)


async def test_rules_are_read_from_the_store_only_when_a_document_changed(
    documents: AuthoredDocuments, store: FragileStore
) -> None:
    """X34"""
    await put(documents, "AGENTS.md", "- one\n")
    reader = reader_on(documents)
    first = await reader.rules(ACME)
    store.asked.clear()
    assert await reader.rules(ACME) is first
    assert store.asked == []
    await put(documents, "AGENTS.md", "- two\n")
    assert await rules_shown(reader) == (["two"], [])
    assert (await reader.rules(ACME)).generation > first.generation


async def test_known_rules_are_served_while_the_store_is_away(
    documents: AuthoredDocuments, store: FragileStore
) -> None:
    await put(documents, "AGENTS.md", "- one\n")
    reader = reader_on(documents)
    await reader.rules(ACME)
    await put(documents, "AGENTS.md", "- two\n")
    store.away = True
    assert await rules_shown(reader) == (["one"], [])
    store.away = False
    assert await rules_shown(reader) == (["two"], [])


async def test_rules_are_read_and_then_served_while_redis_is_away(
    documents: AuthoredDocuments, store: FragileStore
) -> None:
    await put(documents, "AGENTS.md", "- one\n")
    reader = cut_off(documents)
    assert await rules_shown(reader) == (["one"], [])
    store.away = True
    assert await rules_shown(reader) == (["one"], [])


async def test_rules_never_read_and_unreadable_are_an_outage_not_an_absence(
    documents: AuthoredDocuments, store: FragileStore
) -> None:
    store.away = True
    for reader in (reader_on(documents), cut_off(documents)):
        with pytest.raises(Unavailable):
            await reader.rules(ACME)
