"""Keeps the receipt of every answer for a while, so that it can be explained afterwards."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import structlog
from redis.asyncio import Redis

from lithify.assembly.deadlines import Deadline, attempt
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.streams import keys
from lithify.streams.outage import outages

MAX_BYTES: Final = 256 * 1024
# Of a text inside a receipt; only a question can be longer.
MAX_TEXT: Final = 4096
# What notes may still take after an answer that used up its own time.
NOTES_MS: Final = 250

log = structlog.get_logger(__name__)


def notes_deadline(deadline: Deadline) -> Deadline:
    """Returns until when the notes of an answer may be written: its own deadline, or a little time in any case."""
    return max(deadline, Deadline.after(NOTES_MS))


@dataclass(frozen=True, slots=True)
class TraceBook:
    """Keeps receipts in Redis, of each tenant apart, for `ttl_s` seconds."""

    redis: Redis
    ttl_s: int

    async def keep(self, scope: TenantScope, receipt: Mapping[str, Any], deadline: Deadline) -> tuple[str, list[str]]:
        """Keeps a receipt, best effort. Never raises for an outage; returns its id and the complaint if it is lost."""
        trace_id = uuid.uuid4().hex
        keeping = self.write(scope, trace_id, receipt)
        _, complaints = await attempt(keeping, notes_deadline(deadline), None, "the receipt could not be kept")
        for reason in complaints:
            log.warning("answer_not_noted", trace_id=trace_id, reason=reason)
        return trace_id, complaints

    async def write(self, scope: TenantScope, trace_id: str, receipt: Mapping[str, Any]) -> None:
        """Writes a receipt under an id. Raises Unavailable if Redis is away."""
        with outages():
            await self.redis.set(keys.trace(scope.tenant, trace_id), shrink_receipt(receipt), ex=self.ttl_s)

    async def read(self, scope: TenantScope, trace_id: str) -> dict[str, Any]:
        """Returns a receipt of the tenant. Raises NotFound, and Unavailable if Redis is away."""
        with outages():
            data = await self.redis.get(keys.trace(scope.tenant, trace_id))
        if data is None:
            raise NotFound(f"trace_id: no trace {trace_id!r}; it never was or has expired")
        receipt: dict[str, Any] = orjson.loads(data)
        return receipt


def shrink_receipt(receipt: Mapping[str, Any], limit: int = MAX_BYTES) -> bytes:
    """Returns the receipt as JSON of at most `limit` bytes: lists lose their end, which is their worst, texts theirs.

    `shortened` says how much of what is gone; a receipt without it is complete.
    """
    data = orjson.dumps(receipt)
    if len(data) <= limit:
        return data
    kept: dict[str, Any] = orjson.loads(data)
    shortened: dict[str, int] = {}
    for name, text in _long_texts(kept):
        kept[name] = text[:MAX_TEXT]
        shortened[name] = len(text) - MAX_TEXT
    while len(data := orjson.dumps(kept | {"shortened": shortened})) > limit:
        name, rows = max(_lists(kept), key=lambda item: len(orjson.dumps(item[1])))
        half = len(rows) // 2
        shortened[name] = shortened.get(name, 0) + len(rows) - half
        del rows[half:]
    return data


def _long_texts(receipt: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in receipt.items() if isinstance(value, str) and len(value) > MAX_TEXT]


def _lists(receipt: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yields the lists that have something to lose, those inside a part under the part's name and their own."""
    for name, value in receipt.items():
        if isinstance(value, list) and value:
            yield name, value
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", rows) for inner, rows in value.items() if isinstance(rows, list) and rows)
