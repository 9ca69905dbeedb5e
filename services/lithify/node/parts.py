"""Opens what a process needs, embedded or remote as the settings say, and closes it in the right order."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog
from redis.asyncio import Redis

from lithify import store as stores
from lithify.docs.space import Space
from lithify.embedding import Embedder, load_configured_embedder
from lithify.errors import Unavailable
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.node.redis_server import EmbeddedRedis
from lithify.settings import Settings
from lithify.store import CollectionSpec, VectorStore
from lithify.store.memory_record import COLLECTION
from lithify.streams import open_producer, pin_partitions, probe
from lithify.streams.outage import backoff_ms
from lithify.summarising import load_summariser

# One for queries beside the worker's slots: a long batch must not hold up an answer.
QUERY_CALLS = 1
# With pauses of 0.5 s doubling to 16 s, about a minute and a half.
START_TRIES = 9

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RedisParts:
    """Redis as this process reaches it; `server` is set where it runs as our child."""

    url: str
    client: Redis
    server: EmbeddedRedis | None


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that turns text into vectors, with the threads to do it in."""

    embedder: Embedder
    analyser: LexicalAnalyser
    executor: ThreadPoolExecutor


async def open_redis(settings: Settings, stack: AsyncExitStack) -> RedisParts:
    server, url = None, settings.redis_url
    if url is None:
        server = EmbeddedRedis(settings.data_dir / "redis", fsync=settings.redis_fsync)
        await stack.enter_async_context(server)
        url = server.url
    client = open_producer(url)
    stack.push_async_callback(client.aclose)
    for warning in (await once_reachable("redis", partial(probe, client))).warnings:
        log.warning("redis_may_lose_events", reason=warning)
    await once_reachable("redis", partial(pin_partitions, client, settings.partitions))
    return RedisParts(url, client, server)


async def once_reachable(what: str, action: Callable[[], Awaitable[T]]) -> T:
    """Waits for a dependency that is away when we start, as after a restart of everything; gives up after a while.

    Raises what the last try raised; whoever supervises the process may start it again.
    """
    for failures in range(START_TRIES):
        try:
            return await action()
        except Unavailable as error:
            log.warning("waiting_for_dependency", dependency=what, reason=str(error))
            await asyncio.sleep(backoff_ms(failures) / 1000)
    return await action()


def open_model(settings: Settings, stack: AsyncExitStack) -> Model:
    """Raises Misconfigured, with what to run, if the model is missing: open it before anything is running."""
    embedder = load_configured_embedder(settings)
    calls = settings.embed_slots + QUERY_CALLS
    executor = stack.enter_context(ThreadPoolExecutor(calls, thread_name_prefix="embed"))
    return Model(embedder, LexicalAnalyser(), executor)


def open_summariser(settings: Settings) -> Abstractive | None:
    """Raises Misconfigured if the configured folder holds no export that can be run."""
    if settings.summariser_dir is None:
        return None
    return load_summariser(settings.summariser_dir, settings.threads)


async def open_store(settings: Settings, embedder: Embedder, stack: AsyncExitStack) -> VectorStore:
    store = connect_store(settings)
    stack.push_async_callback(store.close)
    for spec in (collection_spec(embedder), Space.of(embedder).spec):
        await once_reachable("store", partial(store.ensure, spec))
    return store


def connect_store(settings: Settings) -> VectorStore:
    if settings.qdrant_url is None:
        return stores.EdgeStore(settings.data_dir / "vectors")
    key = settings.qdrant_api_key
    return stores.ServerStore(settings.qdrant_url, api_key=key.get_secret_value() if key else None)


def collection_spec(embedder: Embedder) -> CollectionSpec:
    """A model without prefix tiers leaves the lower two vectors of every record empty; their length is nominal."""
    manifest = embedder.manifest
    low, middle, full = manifest.tiers or (manifest.dimensions,) * 3
    return CollectionSpec(name=COLLECTION, tiers=(low, middle, full), fingerprint=embedder.fingerprint)
