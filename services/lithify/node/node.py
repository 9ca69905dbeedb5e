"""The whole system in one process: `lithify up`."""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from lithify.embedder.worker import GROUP as EMBED_GROUP
from lithify.errors import Unavailable
from lithify.http import create_app
from lithify.node import services
from lithify.node.parts import Parts, open_parts
from lithify.node.signals import stop_on_signals
from lithify.node.status import status_router
from lithify.node.web import listen, serve
from lithify.settings import Settings
from lithify.streams import Consumer, arm, keys, trim

# Streams grow by what is processed in between; at 1,000 turns/s of 1 KiB that is 30 MB.
TRIM_SECONDS = 30

log = structlog.get_logger(__name__)


async def run_node(settings: Settings, announce: Callable[[Parts], None]) -> None:
    """Serves until SIGTERM or SIGINT, then drains: requests first, then the messages in flight, then the parts."""
    arm(settings.crash_at)
    stop = asyncio.Event()
    stop_on_signals(stop)
    with listen(settings.host, settings.port) as listener:
        async with open_parts(settings) as parts:
            consumers = services.embed_consumers(parts)
            routers = [services.gateway(parts), services.assembly(parts), status_router(parts, consumers)]
            app = create_app("Lithify", routers, settings.max_body_bytes)
            announce(parts)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(serve(app, listener, stop), name="web")
                for consumer in consumers:
                    tasks.create_task(consumer.run(), name="embed")
                keepers = [tasks.create_task(keep_trimmed(parts), name="trim")]
                if parts.embedded_redis is not None:
                    keepers.append(tasks.create_task(parts.embedded_redis.watch(), name="redis-watch"))
                await stop.wait()
                await drain(consumers, keepers)


async def drain(consumers: Sequence[Consumer], keepers: Sequence[asyncio.Task[None]]) -> None:
    log.info("draining")
    for consumer in consumers:
        consumer.stop()
    for keeper in keepers:
        keeper.cancel()


async def keep_trimmed(parts: Parts) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        try:
            for partition in range(parts.settings.partitions):
                await trim(parts.redis, keys.turns(partition), {EMBED_GROUP})
        except Unavailable as error:
            log.warning("streams_not_trimmed", reason=str(error))
