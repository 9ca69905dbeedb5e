"""The network between the processes and Redis, which loses replies and cuts connections when told to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from tests.fault.proxy import Proxy


class Network:
    """Everything between some processes and Redis passes here."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._to_lose: list[bytes] = []
        proxy.swallows = self._swallows

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._proxy.port}"

    @property
    def lost_replies(self) -> int:
        return self._proxy.swallowed

    def lose_reply_to(self, command: bytes) -> None:
        """Redis will act on the next such command, and its caller will never hear of it."""
        self._to_lose.append(command)

    def heal(self) -> None:
        self._to_lose.clear()

    def cut(self) -> None:
        """Every open connection, in the middle of whatever it carries."""
        self._proxy.cut()

    def _swallows(self, request: bytes) -> bool:
        hit = next((command for command in self._to_lose if command in request), None)
        if hit is not None:
            self._to_lose.remove(hit)
        return hit is not None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A Redis that is down or dies closes the connection, as without a proxy."""
        try:
            await self._proxy.serve(reader, writer)
        except* OSError:
            pass
        finally:
            writer.transport.abort()


@asynccontextmanager
async def network_to(redis_url: str) -> AsyncIterator[Network]:
    socket = urlsplit(redis_url)
    assert socket.scheme == "unix", f"choose a folder with a shorter path: {redis_url} is not a unix socket"
    proxy = Proxy(socket.path)
    network = Network(proxy)
    server = await asyncio.start_server(network.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield network
    finally:
        server.close()
        network.cut()
        await server.wait_closed()
