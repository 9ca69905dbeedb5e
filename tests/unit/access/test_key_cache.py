"""Answers are kept for a moment, longer in an outage, and never without bound."""

import asyncio

import pytest

from lithify.access import key_cache
from lithify.access.key_cache import PAUSE_S, STALE_S, KeyCache
from lithify.errors import Unavailable

FRESH_S = 2.0


class Redis:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.content: dict[str, str] = {}
        self.away = False
        self.asked = 0
        self.slow: asyncio.Event | None = None
        self.reached = asyncio.Event()

    async def look(self, name: str) -> str | None:
        self.asked += 1
        if self.away:
            raise Unavailable
        if self.slow is not None:
            self.reached.set()
            await self.slow.wait()
        return self.content.get(name)


class Timer:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def redis() -> Redis:
    return Redis()


@pytest.fixture
def timer() -> Timer:
    return Timer()


@pytest.fixture
def answers(redis: Redis, timer: Timer) -> KeyCache[str]:
    return KeyCache(redis.look, FRESH_S, timer)


async def test_an_answer_is_asked_for_once_and_a_change_is_seen_when_it_is_no_longer_fresh(
    redis: Redis, timer: Timer, answers: KeyCache[str]
) -> None:
    redis.content["a"] = "old"
    assert [await answers.get("a") for _ in range(5)] == ["old"] * 5
    assert redis.asked == 1
    redis.content["a"] = "new"
    timer.now += FRESH_S
    assert await answers.get("a") == "new"


async def test_what_was_removed_is_gone_when_the_answer_is_no_longer_fresh(
    redis: Redis, timer: Timer, answers: KeyCache[str]
) -> None:
    redis.content["a"] = "here"
    await answers.get("a")
    del redis.content["a"]
    timer.now += FRESH_S
    assert await answers.get("a") is None


async def test_what_is_not_there_is_found_as_soon_as_it_is(redis: Redis, answers: KeyCache[str]) -> None:
    assert await answers.get("a") is None
    redis.content["a"] = "here"
    assert await answers.get("a") == "here"


async def test_an_outage_is_asked_once_a_while_and_answered_from_memory(
    redis: Redis, timer: Timer, answers: KeyCache[str]
) -> None:
    redis.content["a"] = "known"
    await answers.get("a")
    redis.away = True
    timer.now += FRESH_S
    assert [await answers.get("a") for _ in range(5)] == ["known"] * 5
    assert redis.asked == 2
    timer.now += PAUSE_S
    await answers.get("a")
    assert redis.asked == 3
    with pytest.raises(Unavailable):
        await answers.get("b")


async def test_an_outage_does_not_keep_an_answer_for_ever(redis: Redis, timer: Timer, answers: KeyCache[str]) -> None:
    redis.content["a"] = "known"
    await answers.get("a")
    redis.away = True
    for _ in range(3):
        timer.now += STALE_S / 3
        assert await answers.get("a") == "known"
    timer.now += PAUSE_S
    with pytest.raises(Unavailable):
        await answers.get("a")


async def test_while_one_asks_the_others_go_on_with_what_is_known(
    redis: Redis, timer: Timer, answers: KeyCache[str]
) -> None:
    redis.content["a"] = "known"
    await answers.get("a")
    redis.content["a"] = "new"
    redis.slow = asyncio.Event()
    timer.now += FRESH_S
    first = asyncio.create_task(answers.get("a"))
    await redis.reached.wait()
    assert await answers.get("a") == "known"
    redis.slow.set()
    assert await first == "new"
    assert await answers.get("a") == "new"


async def test_an_answer_that_does_not_come_is_an_outage(
    redis: Redis, answers: KeyCache[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_cache, "PATIENCE_S", 0.01)
    redis.slow = asyncio.Event()
    with pytest.raises(Unavailable, match="did not answer"):
        await answers.get("a")


async def test_the_oldest_answers_make_room(
    redis: Redis, answers: KeyCache[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_cache, "MOST", 2)
    redis.content = {"a": "1", "b": "2", "c": "3"}
    for name in ("a", "b", "c", "c", "b"):
        await answers.get(name)
    assert redis.asked == 3
    await answers.get("a")
    assert redis.asked == 4
