"""Docs memory as the assembly service offers it, on real parts, for tests over HTTP and from the terminal."""

from dataclasses import dataclass, field

from redis.asyncio import Redis

from lithify.assembly.docs_desk import DocsDesk
from lithify.embedding import Embedder
from lithify.store import VectorStore
from tests.unit.docs.docs_parts import Desk, open_desk


@dataclass(slots=True)
class Service:
    parts: Desk
    asked: int = 0  # how often vectors were asked for
    embeds: bool = True  # whether they are made then
    desk: DocsDesk = field(init=False)

    def __post_init__(self) -> None:
        search = self.parts.search(embedder=self.parts.embedder)
        self.desk = DocsDesk(self.parts.library, search, self.parts.redis, 60, self._announce)

    async def _announce(self) -> None:
        self.asked += 1
        if self.embeds:
            await self.parts.embed()


async def open_service(store: VectorStore, redis: Redis, embedder: Embedder) -> Service:
    return Service(await open_desk(store, redis, embedder))
