"""Liveness, readiness and the state of the queues, told truthfully."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Protocol

from fastapi import APIRouter, Depends, Response
from redis.asyncio import Redis

from lithify.access import KeyScope
from lithify.embedding import Embedder
from lithify.errors import LithifyError, Unavailable
from lithify.events import TenantScope
from lithify.http.authorization import Access
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Lag, keys, read_lag, read_workers
from lithify.streams.groups import EMBED
from lithify.streams.outage import outages


class Working(Protocol):
    """A loop of this process: a consumer or a job runner."""

    @property
    def ready(self) -> bool: ...

    @property
    def outage(self) -> str | None: ...

    @property
    def ticked_at(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Watched:
    """What a process depends on; a gateway has neither store nor model."""

    redis: Redis
    partitions: int
    store: VectorStore | None = None
    embedder: Embedder | None = None
    consumers: Sequence[Working] = ()


def status_router(watched: Watched, access: Access) -> APIRouter:
    router = APIRouter(tags=["operations"])
    reader = Depends(access.needs(KeyScope.READ))

    @router.get("/livez")
    async def livez() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @router.get("/readyz", responses={503: {}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Every dependency answers and the workers are reading."""
        troubles = await find_troubles(watched)
        if troubles:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return {"status": "unready" if troubles else "ready", "troubles": troubles}

    @router.get("/v1/status")
    async def status(caller: TenantScope = reader) -> dict[str, Any]:
        """What the tenant has stored, what waits, and how well the parts are."""
        return await describe(caller, watched)

    return router


async def find_troubles(watched: Watched) -> list[str]:
    troubles = [f"worker: {consumer.outage or 'not reading'}" for consumer in watched.consumers if not consumer.ready]
    if watched.embedder is not None and not (health := watched.embedder.health()).ready:
        troubles.append(f"embedder: {health.reason or health.mode}")
    if watched.store is not None and not (store := await watched.store.health()).ready:
        troubles.append(f"store: {store.reason}")
    try:
        with outages():
            await watched.redis.ping()
    except Unavailable as error:
        troubles.append(f"redis: {error}")
    return troubles


async def describe(scope: TenantScope, watched: Watched) -> dict[str, Any]:
    streams = [key(partition) for key in (keys.turns, keys.stored) for partition in range(watched.partitions)]
    lags = [lag for stream in streams for lag in await read_lag(watched.redis, stream)]
    return {
        "version": version("lithify"),
        "ready": not await find_troubles(watched),
        "embedder": None if watched.embedder is None else describe_embedder(watched.embedder),
        "store": None if watched.store is None else await describe_store(scope, watched.store),
        "streams": [asdict(lag) for lag in lags],
        "unfinished": waiting(lags),
        "unsearchable": waiting(lag for lag in lags if lag.group == EMBED),
        "dead_letters": await count_dead(watched.redis, watched.partitions),
        "workers": [asdict(worker) for worker in await read_workers(watched.redis)],
    }


def waiting(lags: Iterable[Lag]) -> int:
    return sum(lag.unread + lag.pending for lag in lags)


def describe_embedder(embedder: Embedder) -> dict[str, Any]:
    health = embedder.health()
    return {"profile": embedder.manifest.name, "fingerprint": embedder.fingerprint, **asdict(health)}


async def describe_store(scope: TenantScope, store: VectorStore) -> dict[str, Any]:
    health = asdict(await store.health())
    try:
        return health | {"memories": await store.count(scope, COLLECTION, Where())}
    except LithifyError:
        return health | {"memories": None}


async def count_dead(redis: Redis, partitions: int) -> int:
    with outages():
        return sum([int(await redis.xlen(keys.dead(partition))) for partition in range(partitions)])
