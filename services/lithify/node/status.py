"""Liveness, readiness and the state of the queues, told truthfully."""

from collections.abc import Sequence
from dataclasses import asdict
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Response
from redis.asyncio import Redis

from lithify.errors import LithifyError, Unavailable
from lithify.events import EVERY_TENANT
from lithify.node.parts import Parts
from lithify.store import Where
from lithify.store.memory import COLLECTION
from lithify.streams import Consumer, keys, read_lag
from lithify.streams.outage import outages


def status_router(parts: Parts, consumers: Sequence[Consumer]) -> APIRouter:
    router = APIRouter(tags=["operations"])

    @router.get("/livez")
    async def livez() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @router.get("/readyz", responses={503: {}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Every dependency answers and the workers are reading."""
        troubles = await find_troubles(parts, consumers)
        if troubles:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return {"status": "unready" if troubles else "ready", "troubles": troubles}

    @router.get("/v1/status")
    async def status() -> dict[str, Any]:
        """What is stored, what waits, and how well the parts are."""
        return await describe(parts, consumers)

    return router


async def find_troubles(parts: Parts, consumers: Sequence[Consumer]) -> list[str]:
    troubles = [f"embedder: {h.reason or h.mode}" for h in (parts.embedder.health(),) if not h.ready]
    troubles += [f"worker: {consumer.outage or 'not reading'}" for consumer in consumers if not consumer.ready]
    try:
        with outages():
            await parts.redis.ping()
    except Unavailable as error:
        troubles.append(f"redis: {error}")
    store = await parts.store.health()
    return troubles if store.ready else [*troubles, f"store: {store.reason}"]


async def describe(parts: Parts, consumers: Sequence[Consumer]) -> dict[str, Any]:
    health, manifest = parts.embedder.health(), parts.embedder.manifest
    store = await parts.store.health()
    lags = [lag for p in range(parts.settings.partitions) for lag in await read_lag(parts.redis, keys.turns(p))]
    return {
        "version": version("lithify"),
        "ready": not await find_troubles(parts, consumers),
        "embedder": {
            "profile": manifest.name,
            "mode": health.mode,
            "ready": health.ready,
            "reason": health.reason,
            "fingerprint": parts.embedder.fingerprint,
        },
        "store": {**asdict(store), "memories": await count_memories(parts)},
        "streams": [asdict(lag) for lag in lags],
        "unfinished": sum(lag.unread + lag.pending for lag in lags),
        "dead_letters": await count_dead(parts.redis, parts.settings.partitions),
        "workers": [asdict(consumer.tally) | {"ready": consumer.ready} for consumer in consumers],
    }


async def count_memories(parts: Parts) -> int | None:
    try:
        return await parts.store.count(EVERY_TENANT, COLLECTION, Where())
    except LithifyError:
        return None


async def count_dead(redis: Redis, partitions: int) -> int:
    with outages():
        return sum([int(await redis.xlen(keys.dead(partition))) for partition in range(partitions)])
