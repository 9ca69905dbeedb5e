"""Opens what a process needs, embedded or remote as the settings say, and closes it in the right order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

import structlog
from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify import store as stores
from lithify.docs.space import Space
from lithify.embedding import Embedder, load_configured_embedder
from lithify.errors import Unavailable
from lithify.jobs import open_connection
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.gating.gate_profile import GateProfile
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.prompt.tail import TailPolicy
from lithify.memory.ranking.profile import Profile
from lithify.node.memory import choose_redis_memory
from lithify.node.redis_server import EmbeddedRedis
from lithify.node.stored_model import choose_stored_model, is_kept, names_model
from lithify.profiles import load_profile
from lithify.settings import Settings
from lithify.store import CollectionSpec, VectorStore
from lithify.store.catalogue import read_catalogue
from lithify.store.memory_record import COLLECTION
from lithify.streams import open_producer, pin_partitions, probe
from lithify.streams.outage import backoff_ms
from lithify.summarising import load_summariser
from lithify.traces import FolderTraces, RedisTraces, TraceLimits, TraceShelf

# One for queries beside the worker's slots: a long batch must not hold up an answer.
QUERY_CALLS: Final = 1
# With pauses of 0.5 s doubling to 16 s, about a minute and a half.
START_TRIES: Final = 9
HOUR_S: Final = 3_600
MIB: Final = 2**20

T = TypeVar("T")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RedisParts:
    """Redis as this process reaches it: `client` for streams, the blocking `jobs` for RQ.

    `server` is set where it runs as our child.
    """

    url: str
    client: Redis
    jobs: BlockingRedis
    server: EmbeddedRedis | None


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that turns text into vectors, with the threads to do it in."""

    embedder: Embedder
    analyser: LexicalAnalyser
    executor: ThreadPoolExecutor


@dataclass(frozen=True, slots=True)
class ProcessParts:
    """Holds what services, workers and jobs are built from; `loaded` is None where no model is needed."""

    settings: Settings
    redis: RedisParts
    store: VectorStore
    profile: Profile
    loaded: Model | None
    traces: TraceShelf
    keeps_model: bool = False  # it is that of the memories, and not the default

    @property
    def model(self) -> Model:
        """Raises RuntimeError in a process that was opened without a model."""
        if self.loaded is None:
            raise RuntimeError("this process was opened without a model: say that its kind needs one")
        return self.loaded

    @property
    def embedder(self) -> Embedder | None:
        return None if self.loaded is None else self.loaded.embedder


async def open_parts(settings: Settings, stack: AsyncExitStack, *, needs_model: bool = True) -> ProcessParts:
    """Raises Misconfigured if the profile or the model is missing, Unavailable if a dependency stays away.

    Without a model nothing is known about the collections, so that the store is taken as it is.
    """
    # These two first: they are the likeliest to be missing, and nothing runs yet that would need stopping.
    profile = retrieval_profile(settings)
    chosen = await keep_stored_model(settings) if needs_model else settings
    model = open_model(chosen, stack) if needs_model else None
    redis = await open_redis(settings, stack)
    traces = open_traces(settings, redis, stack)
    if model is not None:
        store = await open_store(settings, model.embedder, stack)
    else:
        store = connect_store(settings)
        stack.push_async_callback(store.close)
    kept = is_kept(settings, chosen)
    return ProcessParts(chosen, redis, store, profile, model, traces, keeps_model=kept)


async def open_redis(settings: Settings, stack: AsyncExitStack) -> RedisParts:
    """Starts a server of our own unless the settings name one. Raises Unavailable if it stays away."""
    server = None
    url = settings.redis_url
    if url is None:
        memory = choose_redis_memory(settings.redis_memory_mb)
        server = EmbeddedRedis(settings.data_dir / "redis", fsync=settings.redis_fsync, memory=memory)
        await stack.enter_async_context(server)
        url = server.url
    client = open_producer(url)
    stack.push_async_callback(client.aclose)
    jobs = open_connection(url)
    stack.callback(jobs.close)
    for warning in (await once_reachable("redis", partial(probe, client))).warnings:
        log.warning("redis_may_lose_events", reason=warning)
    await once_reachable("redis", partial(pin_partitions, client, settings.partitions))
    return RedisParts(url, client, jobs, server)


def open_traces(settings: Settings, redis: RedisParts, stack: AsyncExitStack) -> TraceShelf:
    """Opens the place of receipts where all processes that answer, and the one that forgets, can reach it.

    A node that brings its Redis along is the only one: there they lie in files, and take none of its memory.
    """
    limits = TraceLimits(settings.trace_hours * HOUR_S, settings.trace_limit, settings.trace_limit_mb * MIB)
    if settings.trace_redis_url is not None:
        client = open_producer(settings.trace_redis_url)
        stack.push_async_callback(client.aclose)
        return RedisTraces(client, limits)
    if redis.server is not None:
        return FolderTraces(settings.data_dir / "traces", limits)
    return RedisTraces(redis.client, limits)


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


async def keep_stored_model(settings: Settings) -> Settings:
    """Returns the settings with the profile of the stored vectors where the operator names none.

    Raises Misconfigured, with what to run, if that profile is known and not installed.
    """
    if names_model(settings):
        return settings
    chosen = choose_stored_model(settings, await read_specs(settings))
    if is_kept(settings, chosen):
        log.warning("model_kept", profile=chosen.embedding_profile, default=settings.embedding_profile)
    return chosen


async def read_specs(settings: Settings) -> Sequence[CollectionSpec]:
    """Reads what the store holds; an Edge folder without opening the engine, which serves one process only."""
    if settings.qdrant_url is None:
        return [entry.spec(name) for name, entry in read_catalogue(settings.data_dir / "vectors").items()]
    store = connect_store(settings)
    try:
        return await once_reachable("store", store.collections)
    finally:
        await store.close()


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
    """Makes the collections that are missing. Raises Misconfigured if those there hold vectors of another model."""
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
    """Gives a model without prefix tiers a nominal length of the lower two vectors, which every record leaves empty."""
    manifest = embedder.manifest
    low, middle, full = manifest.tiers or (manifest.dimensions,) * 3
    return CollectionSpec(name=COLLECTION, tiers=(low, middle, full), fingerprint=embedder.fingerprint)


def retrieval_profile(settings: Settings) -> Profile:
    """Reads the profile the settings name, changed by those that say something else.

    Raises Misconfigured if it cannot be read or is not as it must be.
    """
    return apply_settings(load_profile(settings.retrieval_profile), settings)


def apply_settings(profile: Profile, settings: Settings) -> Profile:
    """Returns the profile with what the operator has set by a variable of its own: that is meant for any profile."""
    size = settings.compact_cluster_turns or profile.compaction.cluster_turns
    return replace(
        profile,
        search_tiers=settings.search_tiers or profile.search_tiers,
        gate=apply_gate_settings(profile.gate, settings),
        compaction=replace(profile.compaction, cluster_turns=size),
    )


def apply_gate_settings(gate: GateProfile, settings: Settings) -> GateProfile:
    chosen = replace(gate, evidence=settings.gate_evidence or gate.evidence, merge=settings.gate_merge or gate.merge)
    if settings.gate_threshold is None:
        return chosen
    patterns = replace(gate.patterns, threshold=settings.gate_threshold)
    return replace(chosen, patterns=patterns, learned=replace(gate.learned, threshold=settings.gate_threshold))


def tail_policy(profile: Profile) -> TailPolicy:
    """Takes the tail from the numbers of assembly: compaction leaves alone what is shown verbatim (X38)."""
    return TailPolicy(profile.tail_turns, profile.tail_tokens)
