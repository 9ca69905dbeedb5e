"""A real Redis-compatible server for all tests, emptied between them and checked for leaked keys."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import redis as blocking
from redis.asyncio import Redis

from lithify.node.redis_server import EmbeddedRedis
from lithify.streams import keys, open_consumer

BLOCK_MS = 20


def chosen_binary() -> Path | None:
    """LITHIFY_TEST_REDIS_BIN runs the same tests on another server."""
    path = os.environ.get("LITHIFY_TEST_REDIS_BIN")
    return Path(path) if path else None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[EmbeddedRedis]:
    async with EmbeddedRedis(tmp_path_factory.mktemp("redis"), binary=chosen_binary()) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: EmbeddedRedis) -> Iterator[str]:
    """Address of an empty server; fails the test if it left a key that nobody would ever delete."""
    with blocking.Redis.from_url(redis_server.url, decode_responses=True) as client:
        client.flushall()
        yield redis_server.url
        # -1: the key exists and never expires.
        immortal = [key for key in client.scan_iter() if client.ttl(key) == -1]
        leaked = [key for key in immortal if not (key.startswith(keys.PREFIX) and keys.is_permanent(key))]
    assert not leaked, f"keys without TTL that are not declared permanent: {leaked}"


@pytest_asyncio.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with open_consumer(redis_url, BLOCK_MS) as client:
        yield client
