"""Keeps the receipt of every search and assemble for a while, so that a recall can be explained afterwards."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

import orjson
from redis.asyncio import Redis

from lithify.events import TenantScope
from lithify.streams import keys
from lithify.streams.outage import outages

MAX_BYTES: Final = 256 * 1024
# Of a text inside a receipt; only a question can be longer.
MAX_TEXT: Final = 4096


def new_trace_id() -> str:
    return uuid.uuid4().hex


async def keep_trace(redis: Redis, scope: TenantScope, trace_id: str, trace: Mapping[str, Any], ttl_s: int) -> None:
    """Raises Unavailable if Redis is away."""
    with outages():
        await redis.set(keys.trace(scope.tenant, trace_id), bounded(trace), ex=ttl_s)


async def read_trace(redis: Redis, scope: TenantScope, trace_id: str) -> dict[str, Any] | None:
    with outages():
        data = await redis.get(keys.trace(scope.tenant, trace_id))
    return None if data is None else orjson.loads(data)


def bounded(trace: Mapping[str, Any], limit: int = MAX_BYTES) -> bytes:
    """The receipt as JSON of at most `limit` bytes: lists lose their end, which is their worst, long texts theirs.

    `shortened` says how much of what is gone; a receipt without it is complete.
    """
    data = orjson.dumps(trace)
    if len(data) <= limit:
        return data
    kept, shortened = dict(trace), dict[str, int]()
    for name, text in _texts(kept).items():
        kept[name], shortened[name] = text[:MAX_TEXT], len(text) - MAX_TEXT
    while len(data := orjson.dumps(kept | {"shortened": shortened})) > limit:
        name = max(_lists(kept), key=lambda field: len(orjson.dumps(kept[field])))
        half = len(kept[name]) // 2
        shortened[name] = shortened.get(name, 0) + len(kept[name]) - half
        kept[name] = kept[name][:half]
    return data


def _texts(trace: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in trace.items() if isinstance(value, str) and len(value) > MAX_TEXT}


def _lists(trace: Mapping[str, Any]) -> list[str]:
    return [name for name, value in trace.items() if isinstance(value, list | tuple) and value]
