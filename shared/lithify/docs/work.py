"""Which background work documents need, and how it is asked for: the same for services, workers and the schedule."""

from typing import Final

from redis import Redis

from lithify.jobs import Ticket, enqueue, open_queue

QUEUE: Final = "docs"
EMBED: Final = "embed-docs"
COOK: Final = "cook-docs"


async def request_vectors(jobs: Redis) -> Ticket:
    """Durable on return; one that waits already will see the new chunks, too. Raises Unavailable."""
    return await enqueue(open_queue(jobs, QUEUE), EMBED, {}, unique_id=EMBED)


async def request_cooking(jobs: Redis) -> Ticket:
    """A run of the lane now, whatever its schedule. Raises Unavailable."""
    return await enqueue(open_queue(jobs, QUEUE), COOK, {}, unique_id=COOK)
