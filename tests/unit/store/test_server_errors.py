"""What a Qdrant server answers, or does not, becomes one of our kinds of failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from lithify.errors import Doubtful, Invalid, LithifyError, Misconfigured, Unavailable
from lithify.events import EVERY_TENANT
from lithify.store import CollectionSpec, ServerStore, Where
from lithify.store.server_codec import translate_error
from lithify.store.writability import is_storage_trouble

Answer = tuple[int, bytes] | None

VERSION = b'{"title": "qdrant", "version": "1.16.3"}'


@asynccontextmanager
async def server(answers: dict[bytes, Answer], otherwise: Answer = None) -> AsyncIterator[str]:
    """Answers requests by their path; None closes the connection in the middle of the request."""

    links: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        links.append(writer)
        while head := await reader.readline():
            path = head.split(b" ")[1].split(b"?")[0]
            while (await reader.readline()).strip():
                pass
            answer = answers.get(path, otherwise)
            if answer is None:
                break
            status, body = answer
            writer.write(b"HTTP/1.1 %d x\r\ncontent-type: application/json\r\n" % status)
            writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        for link in links:
            link.close()
            await link.wait_closed()


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (400, "Wrong input: vector", Invalid),
        (413, "too large", Invalid),
        (401, "no key", Misconfigured),
        (403, "read-only key", Misconfigured),
        (404, "no such collection", Unavailable),
        (429, "slow down", Unavailable),
        (503, "starting", Unavailable),
        (500, "No space left on device: WAL buffer size exceeds available disk space", Unavailable),
        (500, "task panicked", Doubtful),
        (502, "bad gateway", Doubtful),
    ],
)
def test_an_answer_is_judged(status: int, content: str, kind: type[LithifyError]) -> None:
    assert type(translate_error(status, content, "http://q")) is kind


@pytest.mark.parametrize(
    "words", ["No space left on device (os error 28)", "Input/output error", "Read-only file system", "IO Error: x"]
)
def test_trouble_with_the_disk_is_told_from_trouble_with_a_record(words: str) -> None:
    assert is_storage_trouble(words)
    assert not is_storage_trouble("Service internal error: index out of bounds in spaceship mission")


async def test_a_connection_closed_in_a_request_leaves_open_whose_fault_it_was() -> None:
    async with server({}) as url:
        store = ServerStore(url)
        with pytest.raises(Doubtful, match="RemoteProtocolError"):
            await store.count(EVERY_TENANT, "memories", Where())
        await store.close()


async def test_a_server_nobody_listens_at_is_away_and_no_request_is_to_blame() -> None:
    async with server({}) as url:
        store = ServerStore(url)
    with pytest.raises(Unavailable) as caught:
        await store.count(EVERY_TENANT, "memories", Where())
    assert not isinstance(caught.value, Doubtful)
    await store.close()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")
async def test_a_refused_key_makes_the_store_unready_though_the_server_lives() -> None:
    answers: dict[bytes, Answer] = {b"/": (200, VERSION)}
    async with server(answers, otherwise=(401, b"no")) as url:
        store = ServerStore(url, api_key="old")
        health = await store.health()
        assert (health.ready, health.version) == (False, "1.16.3")
        assert "API key" in (health.reason or "")
        with pytest.raises(Misconfigured, match="API key"):
            await store.ensure(CollectionSpec("memories", (1, 2, 3), "m"))
        answers[b"/collections"] = (200, b'{"result": {"collections": []}, "status": "ok", "time": 0}')
        assert (await store.health()).ready
        await store.close()
