"""Counts how often each memory was recalled: after every assembly, for the next one (spec 08 §3, X40)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis

from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.streams import keys, script
from lithify.streams.outage import outages

# A memory nobody recalled for a year has lost its claim to have been useful.
KEPT_S: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Uses:
    """`counts` lists only what was recalled before; `highest` is the running maximum over all of the user's memory."""

    counts: Mapping[str, int] = field(default_factory=dict)
    highest: int = 0


@dataclass(frozen=True, slots=True)
class UseCounts:
    """Keeps the counts in Redis. Ids are point ids: UUIDs, without commas.

    Both calls raise Unavailable if Redis is away; losing a count is no harm.
    """

    redis: Redis

    async def read(self, scope: TenantScope, ids: Sequence[str]) -> Uses:
        with outages():
            reply = await script.load("uses_read").run(self.redis, [_key(scope)], [",".join(ids)])
        highest, *counts = map(int, reply.split(b","))
        return Uses({record: count for record, count in zip(ids, counts, strict=True) if count}, highest)

    async def count(self, scope: TenantScope, ids: Sequence[str]) -> None:
        """Counts one more use of each."""
        if not ids:
            return
        with outages():
            await script.load("uses_count").run(self.redis, [_key(scope)], [",".join(ids), KEPT_S])


def _key(scope: TenantScope) -> str:
    return keys.use_counts(scope.tenant, SHARED if scope.user is None else scope.user)
