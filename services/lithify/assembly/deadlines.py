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
        """Returns the moment that is `ms` from now."""
        return cls(asyncio.get_running_loop().time() + ms / 1000)

    def seconds_left(self) -> float:
        """Returns the seconds that are left, 0 once it has passed."""
        return max(0.0, self.at - asyncio.get_running_loop().time())


async def finish_by(work: Awaitable[T], deadline: Deadline) -> T:
    """Waits for the work. Raises Late when the deadline passes first; the work is cancelled then."""
    try:
        async with asyncio.timeout(deadline.seconds_left()):
            return await work
    except TimeoutError as error:
        raise Late from error


async def attempt(work: Awaitable[T], deadline: Deadline, otherwise: T, words: str) -> tuple[T, list[str]]:
    """Returns what came in time and no complaint, or `otherwise` and a complaint that begins with `words`."""
    try:
        return await finish_by(work, deadline), []
    except LithifyError as error:
        return otherwise, [f"{words}: {error}"]


@dataclass(frozen=True, slots=True)
class HedgedAnswer(Generic[T]):
    """The answer of two choices; `failure` says why it had to be the second one."""

    value: T
    failure: LithifyError | None = None


async def hedge(first: Work[T], second: Work[T], deadline: Deadline) -> HedgedAnswer[T]:
    """Returns the first choice if it comes in time; asks the second when the first fails or half of the time is gone.

    Raises the first one's failure if the second has no answer either.
    """
    main = asyncio.ensure_future(first())
    spare: asyncio.Future[T] | None = None
    try:
        await asyncio.wait({main}, timeout=deadline.seconds_left() / 2)
        if not has_succeeded(main):
            spare = asyncio.ensure_future(second())
            await asyncio.wait({main} if not main.done() else {spare}, timeout=deadline.seconds_left())
        return _best(main, spare)
    finally:
        discard(task for task in (main, spare) if task is not None)


def has_succeeded(task: "asyncio.Future[Any]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def discard(tasks: "Iterable[asyncio.Future[Any]]") -> None:
    """Cancels what still runs; a failure nobody waits for any more must not be reported as unseen."""
    for task in tasks:
        if not task.cancel() and not task.cancelled():
            task.exception()


def _best(main: "asyncio.Future[T]", spare: "asyncio.Future[T] | None") -> HedgedAnswer[T]:
    if has_succeeded(main):
        return HedgedAnswer(main.result())
    failure = main.exception() if main.done() else Late()
    if failure is not None and not isinstance(failure, LithifyError):
        raise failure
    if spare is None or not has_succeeded(spare):
        raise failure or Late()
    return HedgedAnswer(spare.result(), failure)
