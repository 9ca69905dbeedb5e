"""A TCP proxy that breaks connections the ways networks do: replies swallowed, connections cut."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

CHUNK = 65_536


@dataclass(slots=True)
class Proxy:
    """Passes bytes between clients and a unix socket. `swallows(request)` says whose reply never arrives."""

    upstream: str
    swallows: Callable[[bytes], bool] = lambda _request: False
    port: int = 0
    swallowed: int = 0
    broken: int = 0
    _links: set[asyncio.StreamWriter] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(self.upstream)
        self._links |= {writer, server_writer}
        try:
            await self._pass_on(reader, writer, server_reader, server_writer)
        except* OSError:
            # A cut connection is what the proxy is for; it must not be reported as a failed task.
            self.broken += 1
        for link in (writer, server_writer):
            link.close()
            self._links.discard(link)

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        server_reader: asyncio.StreamReader,
        server_writer: asyncio.StreamWriter,
    ) -> None:
        async with asyncio.TaskGroup() as pumps:
            replies = pumps.create_task(_pump(server_reader, writer))
            while request := await reader.read(CHUNK):
                if self.swallows(request):
                    # The server gets the request and acts on it; the client never hears of it.
                    replies.cancel()
                    self.swallowed += 1
                server_writer.write(request)
                await server_writer.drain()
            replies.cancel()

    def cut(self) -> None:
        for link in list(self._links):
            link.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def proxy_to(unix_socket: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(unix_socket)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
