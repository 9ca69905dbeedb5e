"""The receipts of searches and assemblies: they hold the question that was asked, and name what was found."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from redis.asyncio import Redis

from lithify.forgetter.place import ForgettingRun
from lithify.forgetter.sessions import SCAN
from lithify.forgetting import Target
from lithify.streams import keys
from lithify.streams.outage import outages

# A trace has 256 KiB at most.
PAGE: Final = 32

Trace = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Traces:
    """Clears all traces of the user, and those over all users: which name something forgotten, only ids could tell.

    They expire within hours, so reading those of a tenant is bounded and needs no index that must be kept right.
    """

    redis: Redis
    name: str = "traces"

    async def clear(self, run: ForgettingRun) -> int:
        removed = 0
        async for found in self._find(run.target, lambda _: True):
            with outages():
                removed += int(await self.redis.delete(*found))
        return removed

    async def count_left(self, run: ForgettingRun) -> int:
        """Counts traces from before the request: the user may ask again meanwhile, and is answered without the rest."""
        earlier = self._find(run.target, lambda trace: trace.get("now", 0) <= run.before_ms)
        return sum([len(found) async for found in earlier])

    async def _find(self, target: Target, wanted: Callable[[Trace], bool]) -> AsyncIterator[list[bytes]]:
        async for names in self._pages(target.tenant):
            with outages():
                values = await cast("Awaitable[list[bytes | None]]", self.redis.mget(names))
            traces = {name: orjson.loads(value) for name, value in zip(names, values, strict=True) if value}
            if found := [name for name, trace in traces.items() if concerns(target, trace) and wanted(trace)]:
                yield found

    async def _pages(self, tenant: str) -> AsyncIterator[list[bytes]]:
        page: list[bytes] = []
        with outages():
            async for name in self.redis.scan_iter(keys.matching("trace", tenant, None), count=SCAN):
                page.append(name)
                if len(page) == PAGE:
                    yield page
                    page = []
        if page:
            yield page


def concerns(target: Target, trace: Trace) -> bool:
    asked_for = (trace.get("request") or {}).get("user")
    return target.user is None or asked_for in (None, target.user)
