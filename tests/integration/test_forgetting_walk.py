"""Random walks: what was accepted after a request to forget lives, what was before is nowhere, come what may."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.embedding import HashEmbedder
from lithify.events import EVERY_TENANT
from lithify.node.parts import collection_spec
from lithify.store import EdgeStore, Where
from lithify.store.memory_record import COLLECTION
from tests.integration.forgetting_walk import Walk
from tests.unit.forgetter.forgetting_parts import World, world_on

STEPS = 120


@pytest_asyncio.fixture
async def world(
    edge_store: EdgeStore, redis: Redis, redis_url: str, hash_embedder: HashEmbedder, tmp_path: Path
) -> AsyncIterator[World]:
    await edge_store.ensure(collection_spec(hash_embedder))
    await edge_store.delete(EVERY_TENANT, COLLECTION, Where().present("tenant"))
    with world_on(edge_store, redis, redis_url, hash_embedder, tmp_path) as made:
        yield made
        made.connection.flushall()


@pytest.mark.parametrize("seed", range(5))
async def test_what_came_later_lives_and_what_was_before_is_nowhere(world: World, seed: int) -> None:
    await Walk(world, random.Random(seed)).run(STEPS)  # noqa: S311 - repeatable on purpose
