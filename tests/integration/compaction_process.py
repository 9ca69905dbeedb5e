"""A process that runs compaction jobs on real servers, and dies where it is told to."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from redis import Redis as BlockingRedis
from redis.asyncio import Redis

from lithify.compaction import JOB, QUEUE
from lithify.compactor.job import Compactor, compact_session
from lithify.embedding import HashEmbedder
from lithify.events import system_clock
from lithify.jobs import JobRunner, bind_parts, open_connection
from lithify.memory.compaction.plan import CompactionPolicy
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import EdgeStore, ServerStore, VectorStore
from lithify.streams import arm, open_producer
from tests.integration.jobs_parts import QUICK

EMBEDDER: Final = HashEmbedder(32, (8, 16, 32))


@asynccontextmanager
async def open_store(place: str) -> AsyncIterator[VectorStore]:
    """A server by its address, or Qdrant Edge in a folder."""
    store: VectorStore = ServerStore(place) if place.startswith("http") else EdgeStore(Path(place))
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def compaction_runner(connection: BlockingRedis, redis: Redis, store: VectorStore) -> Iterator[JobRunner]:
    parts = Compactor(store, EMBEDDER, LexicalAnalyser(), redis, 2, system_clock, 100, CompactionPolicy(10))
    with ThreadPoolExecutor(1) as executor:
        jobs = {JOB: bind_parts(compact_session, parts)}
        yield JobRunner(
            connection=connection,
            queue=QUEUE,
            registry=jobs,
            executor=executor,
            settings=QUICK,
            clock=system_clock,
        )


async def main(redis_url: str, place: str) -> None:
    async with open_producer(redis_url) as redis, open_store(place) as store:
        with open_connection(redis_url) as connection, compaction_runner(connection, redis, store) as runner:
            await runner.run()


if __name__ == "__main__":
    arm(sys.argv[3])
    asyncio.run(main(sys.argv[1], sys.argv[2]))
