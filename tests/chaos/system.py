"""The whole system under test: real Redis with its append-only file, real Qdrant server, gateways and workers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import keys, open_consumer
from lithify.streams.groups import ARCHIVE, EMBED
from tests.chaos.network import Network, network_to
from tests.chaos.process import BATCH_SECONDS
from tests.chaos.program import Program
from tests.contract.qdrant_server import QdrantServer, free_port
from tests.redis_fixtures import chosen_binary

PARTITIONS: Final = 4
SLOTS: Final = 2
MAX_HELD: Final = 1_000

Message: TypeAlias = tuple[str, str]
"""Stream and id."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How many processes, and how they are set up."""

    gateways: int = 2
    workers: int = 3
    archivers: int = 1
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
    urls: list[str] = field(default_factory=list)
    redis_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    qdrant_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def programs(self) -> list[Program]:
        return [*self.gateways, *self.workers, *self.archivers]

    async def wait_ready(self) -> None:
        for program in self.programs:
            await program.wait_ready()

    async def held_by(self, worker: Program) -> set[Message] | None:
        """Messages delivered to a worker and not acknowledged; None if Redis cannot say."""
        group = ARCHIVE if worker in self.archivers else EMBED
        names = [f"{worker.name}-{slot}" for slot in range(self.shape.slots)]
        with suppress(RedisError):
            return {
                (stream, cast("bytes", item["message_id"]).decode())
                for stream in map(keys.turns, range(PARTITIONS))
                for name in names
                for item in await self.redis.xpending_range(stream, group, "-", "+", MAX_HELD, name)
            }
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
    network = system.worker_network
    system.workers += [_program(system, f"w{number}", "embed", network) for number in range(shape.workers)]
    system.archivers += [_program(system, f"a{number}", "archive", network) for number in range(shape.archivers)]


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
