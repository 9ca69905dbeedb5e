"""Keeps what Redis said about keys for a moment, and a while longer when Redis is away."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from lithify.errors import Unavailable

# Redis answers such questions in a millisecond; a caller must not wait for one that hangs.
PATIENCE_S: Final = 1.0
# In an outage it is asked again after this time, not by every caller.
PAUSE_S: Final = 5.0
# In an outage no new key is accepted, but a known one stays good; not for ever, since nothing can be revoked meanwhile.
STALE_S: Final = 900.0
# Some hundred bytes each.
MOST: Final = 4_096

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    value: T
    read_at: float
    ask_at: float


class KeyCache(Generic[T]):
    """Looks things up by name and trusts an answer for `fresh_s`; what was not found is looked up every time."""

    def __init__(
        self,
        look_up: Callable[[str], Awaitable[T | None]],
        fresh_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._fresh_s = fresh_s
        self._now = now
        self._answers: dict[str, _Answer[T]] = {}

    async def get(self, name: str) -> T | None:
        """Returns None if there is no such thing. Raises Unavailable if Redis is away and the answer is not known."""
        known = self._answers.get(name)
        if known is not None:
            if self._now() < known.ask_at:
                return known.value
            # One caller asks; the others go on meanwhile with what is known.
            self._keep(name, known.value, known.read_at, PATIENCE_S)
        try:
            value = await self._ask(name)
        except Unavailable:
            if known is None or self._now() - known.read_at > STALE_S:
                raise
            self._keep(name, known.value, known.read_at, PAUSE_S)
            return known.value
        self._answers.pop(name, None)
        if value is not None:
            self._keep(name, value, self._now(), self._fresh_s)
        return value

    def clear(self) -> None:
        """Makes the next calls ask again, for this process has changed something."""
        self._answers.clear()

    async def _ask(self, name: str) -> T | None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._look_up(name)
        except TimeoutError as error:
            raise Unavailable(f"Redis did not answer within {PATIENCE_S:.0f} s") from error

    def _keep(self, name: str, value: T, read_at: float, ask_in_s: float) -> None:
        self._answers.pop(name, None)
        self._answers[name] = _Answer(value, read_at, self._now() + ask_in_s)
        if len(self._answers) > MOST:
            del self._answers[next(iter(self._answers))]
