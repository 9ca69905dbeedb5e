"""A process that starts before its dependencies waits for them, and not for ever."""

import asyncio

import pytest

from lithify.errors import Misconfigured, Unavailable
from lithify.node import parts


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seen: list[float] = []

    async def note(seconds: float) -> None:
        seen.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    return seen


class Dependency:
    def __init__(self, failures: int, error: Exception) -> None:
        self.left, self.error = failures, error

    async def ask(self) -> str:
        if self.left:
            self.left -= 1
            raise self.error
        return "here"


async def test_a_dependency_that_comes_later_is_waited_for(pauses: list[float]) -> None:
    assert await parts.once_reachable("x", Dependency(3, Unavailable("away")).ask) == "here"
    assert pauses == [0.5, 1.0, 2.0]


async def test_the_patience_is_bounded(pauses: list[float]) -> None:
    with pytest.raises(Unavailable, match="away"):
        await parts.once_reachable("x", Dependency(1000, Unavailable("away")).ask)
    assert 60 < sum(pauses) < 180


async def test_what_waiting_cannot_mend_is_told_at_once(pauses: list[float]) -> None:
    with pytest.raises(Misconfigured):
        await parts.once_reachable("x", Dependency(1, Misconfigured("wrong")).ask)
    assert pauses == []
