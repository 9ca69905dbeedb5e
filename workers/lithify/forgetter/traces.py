"""The receipts of searches and assemblies: they hold the question that was asked, and name what was found."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from lithify.forgetter.place import ForgettingRun
from lithify.forgetting import Target
from lithify.traces import TraceShelf, unpack_trace

Trace = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Traces:
    """Clears all traces of the user, and those over all users: which name something forgotten, only ids could tell.

    They are bounded in number and expire within hours, so reading those of a tenant needs no index to be kept right.
    """

    shelf: TraceShelf
    name: str = "traces"
    _cleared: set[str] = field(default_factory=set)

    async def clear(self, run: ForgettingRun) -> int:
        removed = 0
        async for found in self._find(run.target):
            self._cleared.update(found)
            removed += await self.shelf.remove(run.target.tenant, found)
        return removed

    async def count_left(self, run: ForgettingRun) -> int:
        """Counts those that were cleared and are there all the same.

        The user may ask again meanwhile, and is answered without what was forgotten. The time inside a trace tells
        nothing: the host may have chosen it.
        """
        return sum([len(self._cleared.intersection(found)) async for found in self._find(run.target)])

    async def _find(self, target: Target) -> AsyncIterator[list[str]]:
        async for page in self.shelf.pages(target.tenant):
            if found := [trace_id for trace_id, data in page.items() if concerns(target, read_trace(data))]:
                yield found


def read_trace(data: bytes) -> Trace:
    """Reads a trace; one that a crash has torn counts as everybody's, for nobody can tell whose it is."""
    try:
        return unpack_trace(data)
    except ValueError:
        return {}


def concerns(target: Target, trace: Trace) -> bool:
    asked_for = (trace.get("request") or {}).get("user")
    return target.user is None or asked_for in (None, target.user)
