"""Opens what a process needs, embedded or remote as the settings say, and closes it in the right order."""

import os
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

from lithify.embedding import Embedder, load_embedder
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.node.redis_server import EmbeddedRedis
from lithify.settings import Settings
from lithify.store import CollectionSpec, EdgeStore, ServerStore, VectorStore
from lithify.store.memory import COLLECTION
from lithify.streams import open_producer, pin_partitions

# One for queries beside the worker's slots: a long batch must not hold up an answer.
QUERY_CALLS = 1


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    redis_url: str
    redis: Redis
    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor
    embedded_redis: EmbeddedRedis | None


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[Parts]:
    """The model first: it is the likeliest to be missing, and nothing is running yet that would need stopping."""
    embedder = load_embedder(
        settings.models_dir,
        settings.embedding_profile,
        variant=settings.embedding_variant,
        threads=settings.embedding_threads or os.cpu_count() or 1,
    )
    async with AsyncExitStack() as stack:
        calls = settings.embed_slots + QUERY_CALLS
        executor = stack.enter_context(ThreadPoolExecutor(calls, thread_name_prefix="embed"))
        embedded, redis_url = await _redis(settings, stack)
        redis = open_producer(redis_url)
        stack.push_async_callback(redis.aclose)
        await pin_partitions(redis, settings.partitions)
        store = _store(settings)
        stack.push_async_callback(store.close)
        await store.ensure(collection_spec(embedder))
        yield Parts(settings, redis_url, redis, store, embedder, LexicalAnalyser(), executor, embedded)


async def _redis(settings: Settings, stack: AsyncExitStack) -> tuple[EmbeddedRedis | None, str]:
    if settings.redis_url is not None:
        return None, settings.redis_url
    embedded = EmbeddedRedis(settings.data_dir / "redis", fsync=settings.redis_fsync)
    await stack.enter_async_context(embedded)
    return embedded, embedded.url


def _store(settings: Settings) -> VectorStore:
    if settings.qdrant_url is None:
        return EdgeStore(settings.data_dir / "vectors")
    key = settings.qdrant_api_key
    return ServerStore(settings.qdrant_url, api_key=key.get_secret_value() if key else None)


def collection_spec(embedder: Embedder) -> CollectionSpec:
    """A model without prefix tiers leaves the lower two vectors of every record empty; their length is nominal."""
    manifest = embedder.manifest
    low, middle, full = manifest.tiers or (manifest.dimensions,) * 3
    return CollectionSpec(name=COLLECTION, tiers=(low, middle, full), fingerprint=embedder.fingerprint)
