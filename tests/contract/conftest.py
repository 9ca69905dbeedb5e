"""Fixtures of the contract suites: a session to be compacted, on each of the engines."""

from collections.abc import Iterator

import pytest
from redis.asyncio import Redis

from lithify.embedding import HashEmbedder
from lithify.store import VectorStore
from tests.compaction_parts import Bench, bench_on


@pytest.fixture
def bench(memories: VectorStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder) -> Iterator[Bench]:
    with bench_on(memories, redis, redis_url, hash_embedder) as made:
        yield made
