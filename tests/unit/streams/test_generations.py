"""Generations move with every write, are apart for every tenant and subject, and do not live for ever."""

import pytest
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.events.scope import SHARED
from lithify.streams import keys, open_producer
from lithify.streams.generations import AUTHORED, KEPT_S, bump, durable_subject, read_generations


async def test_a_subject_that_was_never_written_has_generation_zero(redis: Redis) -> None:
    assert await read_generations(redis, "t", [AUTHORED, durable_subject("u")]) == (0, 0)
    assert await read_generations(redis, "t", []) == ()


async def test_every_write_moves_only_its_own_subject_and_tenant(redis: Redis) -> None:
    assert await bump(redis, "t", durable_subject("u")) == 1
    assert await bump(redis, "t", durable_subject("u")) == 2
    subjects = [durable_subject("u"), durable_subject("u2"), durable_subject(SHARED), AUTHORED]
    assert await read_generations(redis, "t", subjects) == (2, 0, 0, 0)
    assert await read_generations(redis, "other", subjects) == (0, 0, 0, 0)


async def test_a_generation_outlives_every_copy_but_not_the_deployment(redis: Redis) -> None:
    await bump(redis, "t", AUTHORED)
    assert 0 < await redis.ttl(keys.generation("t", AUTHORED)) <= KEPT_S


async def test_an_absent_redis_is_an_outage() -> None:
    async with open_producer("redis://127.0.0.1:1") as nobody:
        with pytest.raises(Unavailable):
            await read_generations(nobody, "t", [AUTHORED])
        with pytest.raises(Unavailable):
            await bump(nobody, "t", AUTHORED)
