"""The archive: lines on disk, from which a rebuild would bring everything back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lithify.archive import Findings, read_archive, rewrite
from lithify.events import Event
from lithify.forgetter.place import ForgettingRun
from lithify.forgetting import Target

Seal = Callable[[], Awaitable[None]]
"""Closes the segment that is being written, so that it can be rewritten."""


@dataclass(slots=True)
class Survey:
    """`events` are those of the `lines` that are to go; `damaged` says that nobody knows all of it."""

    events: set[str] = field(default_factory=set)
    lines: int = 0
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class Segments:
    """`seal` is that of the archive worker in this process; segments of others are left until they seal them."""

    archive: Path
    seal: Seal | None = None
    name: str = "archive"

    async def clear(self, run: ForgettingRun) -> int:
        """Rewrites the segments. Raises Unavailable while a rebuild runs, which excludes that."""
        if self.seal is not None:
            await self.seal()
        found = await self._survey(run)
        await run.drop_receipts(found.events)
        if not found.lines and not found.damaged:
            return 0
        keep = partial(is_kept, run.target, run.before_ms)
        return (await asyncio.to_thread(rewrite, self.archive, keep)).removed

    async def count_left(self, run: ForgettingRun) -> int:
        return (await self._survey(run)).lines

    async def _survey(self, run: ForgettingRun) -> Survey:
        return await asyncio.to_thread(survey, self.archive, run.target, run.before_ms)


def survey(archive: Path, target: Target, before_ms: int) -> Survey:
    """Reads everything there is, the open segments too, and returns what of it is to go."""
    found = Survey()
    findings = Findings()
    for archived in read_archive(archive, findings):
        if not is_kept(target, before_ms, archived.event):
            found.events.add(archived.event.event_id)
            found.lines += 1
    found.damaged = bool(findings.damage)
    return found


def is_kept(target: Target, before_ms: int, event: Event) -> bool:
    """Tells whether a line stays: each is judged by when it was accepted, for an event may have been so twice."""
    return not target.covers(event) or (event.accepted or 0) > before_ms
