"""A process that writes documents on real servers, and dies where it is told to."""

import asyncio
import sys

from lithify.docs import DocId, Origin
from lithify.streams import arm, open_producer
from tests.integration.compaction_process import EMBEDDER, open_store
from tests.unit.docs.docs_parts import ACME, Desk

NEW = "# Quay\n\nThe new quay is longer.\n\n# Depth\n\n" + "Ten metres. " * 60
DOC = DocId("harbour", "quay.md")


async def main(redis_url: str, place: str, action: str) -> None:
    async with open_producer(redis_url) as redis, open_store(place) as store:
        desk = Desk(store, redis, EMBEDDER)
        await store.ensure(desk.library.space.spec)
        if action == "put":
            await desk.library.put(ACME, DOC, NEW.encode(), Origin())
        elif action == "delete":
            await desk.library.delete(ACME, DOC)
        else:
            await desk.embed()


if __name__ == "__main__":
    arm(sys.argv[4])
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3]))
