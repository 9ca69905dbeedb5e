"""The whole system under test: real Redis with its append-only file, real Qdrant server, gateways and workers."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from lithify.access import ApiKeyRequest, ApiKeyStore, KeyScope
from lithify.compaction import QUEUE as COMPACTION
from lithify.events import system_clock
from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import keys, open_consumer
from lithify.streams.groups import ARCHIVE, EMBED, GATE
from tests.chaos.ledger import TENANTS
from tests.chaos.network import Network, network_to
from tests.chaos.process import BATCH_SECONDS
from tests.chaos.program import Program
from tests.contract.qdrant_server import QdrantServer, free_port
from tests.redis_fixtures import chosen_binary

PARTITIONS: Final = 4
SLOTS: Final = 2
MAX_HELD: Final = 1_000
# Little enough that a session is compacted more than once while it goes on.
COMPACT_TOKENS: Final = 3_000

Message: TypeAlias = tuple[str, str]
"""Stream and id."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How many processes, and how they are set up."""

    gateways: int = 2
    workers: int = 3
    archivers: int = 1
    gaters: int = 1
    compactors: int = 2
    assemblies: int = 1
    lease_ms: int = 2_000
    batch_turns: int = 64
    slots: int = SLOTS
    # Enough that a worker under load nearly always holds something when it is hit.
    batch_seconds: float = 0.04


@dataclass(slots=True)
class System:
    """`redis` is the way past the network; `redis_lock` and `qdrant_lock` are held while a server is down."""

    shape: Shape
    folder: Path
    server: EmbeddedRedis
    qdrant: QdrantServer
    redis: Redis
    gateway_network: Network
    worker_network: Network
    gateways: list[Program] = field(default_factory=list)
    workers: list[Program] = field(default_factory=list)
    archivers: list[Program] = field(default_factory=list)
    gaters: list[Program] = field(default_factory=list)
    compactors: list[Program] = field(default_factory=list)
    assemblies: list[Program] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    assembly_urls: list[str] = field(default_factory=list)
    api_keys: dict[str, str] = field(default_factory=dict)
    redis_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    qdrant_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def programs(self) -> list[Program]:
        readers = (*self.workers, *self.archivers, *self.gaters)
        return [*self.gateways, *self.assemblies, *readers, *self.compactors]

    async def wait_ready(self) -> None:
        for program in self.programs:
            await program.wait_ready()

    async def held_by(self, worker: Program) -> set[Message] | None:
        """Messages delivered to a worker and not acknowledged; None if Redis cannot say."""
        if worker in self.compactors:
            return await self.running_jobs(COMPACTION)
        group = ARCHIVE if worker in self.archivers else EMBED
        streams = keys.turn_streams(PARTITIONS)
        if worker in self.gaters:
            group, streams = GATE, [keys.stored(partition) for partition in range(PARTITIONS)]
        names = [f"{worker.name}-{slot}" for slot in range(self.shape.slots)]
        with suppress(RedisError):
            return {
                (stream, cast("bytes", item["message_id"]).decode())
                for stream in streams
                for name in names
                for item in await self.redis.xpending_range(stream, group, "-", "+", MAX_HELD, name)
            }
        return None

    async def running_jobs(self, queue: str) -> set[Message] | None:
        """Returns the executions under a living lease; None if Redis cannot say."""
        with suppress(RedisError):
            found = await self.redis.zrangebyscore(f"rq:wip:{queue}", time.time(), "+inf")
            return {(queue, execution.decode()) for execution in cast("list[bytes]", found)}
        return None


@asynccontextmanager
async def running_system(folder: Path, qdrant_binary: Path, shape: Shape) -> AsyncIterator[System]:
    """Ready on entry. On exit every process is told to stop; their `exits` tell whether they did so cleanly."""
    async with AsyncExitStack() as stack:
        server = EmbeddedRedis(folder / "redis", binary=chosen_binary())
        await stack.enter_async_context(server)
        qdrant = await _start_qdrant(folder / "qdrant", qdrant_binary, stack)
        system = System(
            shape,
            folder,
            server,
            qdrant,
            await stack.enter_async_context(open_consumer(server.url, 0)),
            await stack.enter_async_context(network_to(server.url)),
            await stack.enter_async_context(network_to(server.url)),
        )
        if shape.gateways:
            system.api_keys |= {tenant: await _make_key(system.redis, tenant) for tenant in TENANTS}
        _add_programs(system)
        await stack.enter_async_context(_supervised(system))
        await system.wait_ready()
        yield system


async def _start_qdrant(folder: Path, binary: Path, stack: AsyncExitStack) -> QdrantServer:
    await asyncio.to_thread(folder.mkdir, parents=True)
    qdrant = QdrantServer(binary, folder)
    await asyncio.to_thread(qdrant.start)
    stack.push_async_callback(asyncio.to_thread, qdrant.stop)
    return qdrant


def _add_programs(system: System) -> None:
    shape = system.shape
    for number in range(shape.gateways):
        port = free_port()
        system.gateways.append(_program(system, f"g{number}", "gateway", system.gateway_network, port))
        system.urls.append(f"http://127.0.0.1:{port}")
    for number in range(shape.assemblies):
        port = free_port()
        system.assemblies.append(_program(system, f"s{number}", "assembly", system.gateway_network, port))
        system.assembly_urls.append(f"http://127.0.0.1:{port}")
    network = system.worker_network
    system.workers += [_program(system, f"w{number}", "embed", network) for number in range(shape.workers)]
    system.archivers += [_program(system, f"a{number}", "archive", network) for number in range(shape.archivers)]
    system.gaters += [_program(system, f"t{number}", "gate", network) for number in range(shape.gaters)]
    system.compactors += [_program(system, f"c{number}", "compact", network) for number in range(shape.compactors)]


async def _make_key(redis: Redis, tenant: str) -> str:
    wanted = ApiKeyRequest(tenant=tenant, scopes=frozenset({KeyScope.ADMIN}))
    _, credential = await ApiKeyStore(redis, system_clock).create(wanted)
    return credential.reveal()


def _program(system: System, name: str, part: str, network: Network, port: int = 8420) -> Program:
    shape = system.shape
    settings: Mapping[str, object] = {
        "LITHIFY_REDIS_URL": network.url,
        "LITHIFY_QDRANT_URL": system.qdrant.url,
        "LITHIFY_PORT": port,
        "LITHIFY_WORKER_NAME": name,
        "LITHIFY_DATA_DIR": system.folder,
        "LITHIFY_ARCHIVE": shape.archivers > 0,
        "LITHIFY_ARCHIVE_DIR": system.archive,
        "LITHIFY_PARTITIONS": PARTITIONS,
        "LITHIFY_EMBEDDING_PROFILE": "hash",
        "LITHIFY_EMBED_BATCH_TURNS": shape.batch_turns,
        "LITHIFY_EMBED_SLOTS": shape.slots,
        "LITHIFY_LEASE_MS": shape.lease_ms,
        "LITHIFY_COMPACT_TOKENS": COMPACT_TOKENS,
        BATCH_SECONDS: shape.batch_seconds,
    }
    log = system.folder / f"{name}.log"
    return Program(name, part, log, {variable: str(value) for variable, value in settings.items()})


@asynccontextmanager
async def _supervised(system: System) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        for program in system.programs:
            tasks.create_task(program.supervise(), name=program.name)
        try:
            yield
        finally:
            await asyncio.gather(*(program.stop() for program in system.programs))
