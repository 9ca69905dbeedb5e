"""Keeps the receipt of every search and assemble for a while, so that a recall can be explained afterwards."""

import uuid
from typing import Any

import orjson
import structlog
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.streams import keys
from lithify.streams.outage import outages

log = structlog.get_logger(__name__)


def new_trace_id() -> str:
    return uuid.uuid4().hex


async def keep_trace(redis: Redis, scope: TenantScope, trace_id: str, trace: dict[str, Any], ttl_s: int) -> None:
    """Best effort: a lost receipt must never cost the answer it explains."""
    try:
        with outages():
            await redis.set(keys.trace(scope.tenant, trace_id), orjson.dumps(trace), ex=ttl_s)
    except Unavailable as error:
        log.warning("trace_not_kept", trace_id=trace_id, reason=str(error))


async def read_trace(redis: Redis, scope: TenantScope, trace_id: str) -> dict[str, Any] | None:
    with outages():
        data = await redis.get(keys.trace(scope.tenant, trace_id))
    return None if data is None else orjson.loads(data)
