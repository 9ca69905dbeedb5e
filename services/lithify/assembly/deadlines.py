"""The time one answer may take: a slow part is left out or replaced, never waited for without end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lithify.errors import LithifyError, Unavailable

T = TypeVar("T")
Work = Callable[[], Awaitable[T]]


class Late(Unavailable):
    """The answer did not come in time."""


@dataclass(frozen=True, slots=True, order=True)
class Deadline:
    """A moment of the event loop's clock."""

    at: float

    @classmethod
    def after(cls, ms: float) -> "Deadline":
        return cls(asyncio.get_running_loop().time() + ms / 1000)

    def left(self) -> float:
        """Seconds; 0 once it has passed."""
        return max(0.0, self.at - asyncio.get_running_loop().time())


async def in_time(work: Awaitable[T], deadline: Deadline) -> T:
    """Raises Late when the deadline passes first; the work is cancelled then."""
    try:
        async with asyncio.timeout(deadline.left()):
            return await work
    except TimeoutError as error:
        raise Late from error


async def attempt(work: Awaitable[T], deadline: Deadline, otherwise: T, words: str) -> tuple[T, list[str]]:
    """What came in time with no complaint, or `otherwise` with one that begins with `words`."""
    try:
        return await in_time(work, deadline), []
    except LithifyError as error:
        return otherwise, [f"{words}: {error}"]


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """`failure` says why it had to be the second choice."""

    value: T
    failure: LithifyError | None = None


async def hedged(first: Work[T], second: Work[T], deadline: Deadline) -> Answer[T]:
    """The first choice if it comes in time; the second is asked when the first fails or half of the time is gone.

    Raises the first one's failure if the second has no answer either.
    """
    main = asyncio.ensure_future(first())
    spare: asyncio.Future[T] | None = None
    try:
        await asyncio.wait({main}, timeout=deadline.left() / 2)
        if not succeeded(main):
            spare = asyncio.ensure_future(second())
            await asyncio.wait({main} if not main.done() else {spare}, timeout=deadline.left())
        return _best(main, spare)
    finally:
        discard(task for task in (main, spare) if task is not None)


def succeeded(task: "asyncio.Future[Any]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def discard(tasks: "Iterable[asyncio.Future[Any]]") -> None:
    """Cancels what still runs; a failure nobody waits for any more must not be reported as unseen."""
    for task in tasks:
        if not task.cancel() and not task.cancelled():
            task.exception()


def _best(main: "asyncio.Future[T]", spare: "asyncio.Future[T] | None") -> Answer[T]:
    if succeeded(main):
        return Answer(main.result())
    failure = main.exception() if main.done() else Late()
    if failure is not None and not isinstance(failure, LithifyError):
        raise failure
    if spare is None or not succeeded(spare):
        raise failure or Late()
    return Answer(spare.result(), failure)
