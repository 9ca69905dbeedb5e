"""Takes the figures at most once a second for everybody who looks, and keeps the last minutes for the charts."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from lithify.monitoring.figures import Figures, PipelineReader, StreamState
from lithify.streams import keys
from lithify.streams.groups import EMBED

EVERY_S: Final = 1.0
# Counting a long backlog takes time on Redis, which has better things to do: after a long look comes as long a pause.
LONGEST_S: Final = 5.0
KEPT: Final = 180


@dataclass(frozen=True, slots=True)
class Moment:
    """Holds what rates are made of: how much was ever accepted, and how much of it is searchable."""

    at: int
    accepted: int
    searchable: int


@dataclass(frozen=True, slots=True)
class Throughput:
    """Says how many turns a second, between two moments; None while only one is known."""

    accepted: float | None
    searchable: float | None


@dataclass(frozen=True, slots=True)
class Reading:
    """The newest figures, and the moments before them that the charts show."""

    figures: Figures
    history: tuple[Moment, ...]

    @property
    def throughput(self) -> Throughput:
        """Averages over the last ten seconds or so: one second alone jumps about."""
        return throughput(self.history[-10:])


class Pulse:
    """Shares each reading among all who look; nothing is read while nobody does."""

    def __init__(self, reader: PipelineReader, now: Callable[[], float] = time.monotonic) -> None:
        self._reader = reader
        self._now = now
        self._lock = asyncio.Lock()
        self._history: deque[Moment] = deque(maxlen=KEPT)
        self._reading: Reading | None = None
        self._fresh_until = 0.0

    async def read(self) -> Reading:
        """Returns figures not older than about a second. Raises Unavailable if Redis did not answer."""
        async with self._lock:
            if self._reading is None or self._now() >= self._fresh_until:
                await self._take()
            assert self._reading is not None  # noqa: S101 - taken just now
            return self._reading

    async def _take(self) -> None:
        figures = await self._reader.read()
        moment = moment_of(figures)
        if self._history and not follows(moment, self._history[-1]):
            self._history.clear()
        self._history.append(moment)
        self._reading = Reading(figures, tuple(self._history))
        # A little less than a second, so that whoever asks every second gets a new one each time.
        self._fresh_until = self._now() + min(LONGEST_S, max(0.9 * EVERY_S, figures.took_s))


def moment_of(figures: Figures) -> Moment:
    turns = [stream for stream in figures.streams if stream.stream.startswith(keys.TURNS)]
    accepted = sum(stream.added or 0 for stream in turns)
    return Moment(figures.at, accepted, accepted - sum(map(count_unsearchable, turns)))


def count_unsearchable(stream: StreamState) -> int:
    return sum(group.unread + group.pending for group in stream.groups if group.group == EMBED)


def follows(later: Moment, earlier: Moment) -> bool:
    """Is false after a pause in which nobody looked, or on a server that was emptied: no line joins the two."""
    return later.accepted >= earlier.accepted and 0 < later.at - earlier.at < 30_000


def throughput(history: Sequence[Moment]) -> Throughput:
    if len(history) < 2:
        return Throughput(None, None)
    return _between(history[0], history[-1])


def series(history: Sequence[Moment]) -> list[Throughput]:
    return [_between(earlier, later) for earlier, later in pairwise(history)]


def _between(earlier: Moment, later: Moment) -> Throughput:
    seconds = max(later.at - earlier.at, 1) / 1000
    accepted = (later.accepted - earlier.accepted) / seconds
    # Reading is not one step: what was accepted in between may count as unread and not yet as accepted.
    return Throughput(accepted, max(0.0, (later.searchable - earlier.searchable) / seconds))
