"""What one connection may cost: bytes of headers, time, and places; on a real port, byte by byte."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from lithify.http import connection as limits_module
from lithify.http import create_app
from lithify.http.connection import ConnectionLimits
from lithify.node.runtime import listen, serve

PATIENCE_S = 20
GET = b"GET /thing HTTP/1.1\r\nhost: localhost\r\n\r\n"
POST = b"POST /thing HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n"
CHUNKED = b"POST /thing HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
BEGUN = b"GET /thing HTTP/1.1\r\nhost: local"
LIMITS = ConnectionLimits(header_bytes=4096, header_s=PATIENCE_S, body_s=PATIENCE_S, connections=50, requests=50)


@dataclass
class Served:
    port: int
    held: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    bodies: list[int] = field(default_factory=list)
    lines: list["Line"] = field(default_factory=list)

    async def connect(self) -> "Line":
        self.lines.append(Line(*await asyncio.open_connection("127.0.0.1", self.port)))
        return self.lines[-1]


@dataclass
class Line:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        """Returns the status and the head of the next answer, whose body is read, too."""
        async with asyncio.timeout(PATIENCE_S):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            await self.reader.readexactly(int(length[1]) if length else 0)
        return int(head.split()[1]), head

    async def is_closed(self) -> bool:
        async with asyncio.timeout(PATIENCE_S):
            return await self.reader.read() == b""

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


@asynccontextmanager
async def serving(limits: ConnectionLimits) -> AsyncIterator[Served]:
    router = APIRouter()
    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        served = Served(listener.getsockname()[1])

        @router.get("/thing")
        @router.get("/livez")
        async def thing() -> str:
            return "done"

        @router.post("/thing")
        async def take(request: Request) -> str:
            served.bodies.append(len(await request.body()))
            return "taken"

        @router.get("/held")
        async def hold() -> str:
            served.held.set()
            await served.release.wait()
            return "released"

        @router.get("/flood")
        async def flood() -> StreamingResponse:
            async def parts() -> AsyncIterator[bytes]:
                try:
                    while True:
                        yield b"x" * 100_000
                        await asyncio.sleep(0)
                finally:
                    served.held.set()

            return StreamingResponse(parts())

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(serve(create_app("test", [router], 2**20), listener, stop, limits))
            try:
                yield served
            finally:
                for line in served.lines:
                    await line.close()
                served.release.set()
                stop.set()


HEADS = {
    "one header without an end": b"GET /thing HTTP/1.1\r\nx: " + b"x" * 700_000,
    "many headers": b"GET /thing HTTP/1.1\r\n" + b"a: b\r\n" * 100_000,
    "a complete large head": b"GET /thing HTTP/1.1\r\nx: " + b"x" * 5_000 + b"\r\n\r\n",
    "an address": b"GET /" + b"x" * 5_000 + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
    "a chunk extension": CHUNKED + b"1;" + b"x" * 700_000,
}


@pytest.mark.parametrize("sent", HEADS.values(), ids=HEADS.keys())
async def test_a_head_that_is_too_large_is_431_and_the_end(sent: bytes) -> None:
    async with serving(LIMITS) as served:
        line = await served.connect()
        await line.send(*(sent[start : start + 50_000] for start in range(0, len(sent), 50_000)))
        status, head = await line.answer()
        assert (status, b"application/problem+json" in head) == (431, True)
        assert await line.is_closed()
        assert served.bodies == []


async def test_trailers_count_as_headers() -> None:
    async with serving(LIMITS) as served:
        line = await served.connect()
        await line.send(CHUNKED, b"1\r\nx\r\n0\r\n", *[b"x: " + b"x" * 50_000] * 4)
        assert (await line.answer())[0] == 431


async def test_bodies_in_one_piece_and_in_chunks_are_taken_whatever_their_size() -> None:
    async with serving(LIMITS) as served:
        line = await served.connect()
        await line.send(POST % 600_000, b"x" * 600_000)
        assert (await line.answer())[0] == 200
        await line.send(CHUNKED, *[b"1\r\nx\r\n"] * 3_000, b"0\r\n\r\n")
        assert (await line.answer())[0] == 200
        await line.send(GET * 3)
        assert [(await line.answer())[0] for _ in range(3)] == [200] * 3
        assert served.bodies == [600_000, 3_000]


@pytest.mark.parametrize(
    ("sent", "slow"),
    [
        (b"", {"header_s": 0.1}),
        (BEGUN, {"header_s": 0.1}),
        (GET + BEGUN, {"header_s": 0.1}),
        (POST % 9, {"body_s": 0.1}),
    ],
    ids=["nothing", "half a head", "half a second head", "no body"],
)
async def test_whoever_does_not_go_on_is_told_and_shut_out(sent: bytes, slow: dict[str, float]) -> None:
    async with serving(ConnectionLimits(**slow)) as served:  # type: ignore[arg-type]  # times only
        line = await served.connect()
        await line.send(sent)
        status, _ = await line.answer()
        if status == 200:
            status, _ = await line.answer()
        assert status == 408
        assert await line.is_closed()


async def test_a_trickle_is_no_progress() -> None:
    async with serving(ConnectionLimits(body_s=0.2)) as served:
        line = await served.connect()
        await line.send(POST % 1_000_000)
        trickle = asyncio.create_task(drip(line))
        assert (await line.answer())[0] == 408
        trickle.cancel()
        await asyncio.gather(trickle, return_exceptions=True)


async def drip(line: Line) -> None:
    while True:
        await line.send(b"x")
        await asyncio.sleep(0.05)


async def test_a_body_that_comes_at_a_fair_rate_may_take_longer() -> None:
    async with serving(ConnectionLimits(body_s=0.1)) as served:
        line = await served.connect()
        # Earns twelve seconds, whatever the machine does meanwhile.
        await line.send(POST % 200_001, b"x" * 200_000)
        await asyncio.sleep(0.3)
        await line.send(b"x")
        assert (await line.answer())[0] == 200


async def test_over_the_limit_of_requests_the_answer_is_503_and_when_to_come_back() -> None:
    async with serving(ConnectionLimits(requests=1)) as served:
        first, second = await served.connect(), await served.connect()
        await first.send(GET.replace(b"thing", b"held"))
        await served.held.wait()
        await second.send(GET)
        status, head = await second.answer()
        assert (status, b"retry-after: " in head.lower()) == (503, True)
        await second.send(GET.replace(b"thing", b"livez"))
        assert (await second.answer())[0] == 200
        served.release.set()
        assert (await first.answer())[0] == 200
        await second.send(GET)
        assert (await second.answer())[0] == 200


async def test_over_the_limit_of_connections_one_more_is_503() -> None:
    async with serving(ConnectionLimits(connections=2)) as served:
        lines = [await served.connect() for _ in range(2)]
        for line in lines:
            await line.send(BEGUN)
        late = await served.connect()
        status, head = await late.answer()
        assert (status, b"retry-after: " in head.lower()) == (503, True)
        assert await late.is_closed()


async def test_a_kept_connection_that_asks_nothing_makes_room() -> None:
    async with serving(ConnectionLimits(connections=1)) as served:
        idle = await served.connect()
        await idle.send(GET)
        assert (await idle.answer())[0] == 200
        new = await served.connect()
        await new.send(GET)
        assert (await new.answer())[0] == 200
        assert await idle.is_closed()


async def test_whoever_takes_nothing_of_an_answer_is_shut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "UNREAD_ANSWER_S", 0.1)
    async with serving(LIMITS) as served:
        line = await served.connect()
        await line.send(GET.replace(b"thing", b"flood"))
        async with asyncio.timeout(PATIENCE_S):
            await served.held.wait()
