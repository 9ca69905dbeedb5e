"""Forgotten words leave the files of Redis, and the receipt tells what does not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.forgetter.erasure import MOST_NOW, Remainder, erase_log, erase_records
from lithify.node.redis_server import EmbeddedRedis
from lithify.store import Erasure
from lithify.streams import keys, open_consumer
from tests.redis_fixtures import chosen_binary

WORDS = b"The safe opens with 4711"


@pytest_asyncio.fixture
async def own(tmp_path: Path) -> AsyncIterator[Redis]:
    """A server of the test's own, whose files it may look into."""
    async with (
        EmbeddedRedis(tmp_path / "redis", binary=chosen_binary()) as server,
        open_consumer(server.url, 20) as client,
    ):
        yield client


def holding(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and WORDS in path.read_bytes()]


async def test_deleted_words_are_in_no_file_of_redis(own: Redis, tmp_path: Path) -> None:
    """Beside entries that stay: Redis keeps what was deleted from a stream as long as its neighbours live."""
    stream = keys.turns(0)
    await own.xadd(stream, {"event": b"before"})
    doomed = await own.xadd(stream, {"event": WORDS})
    await own.xadd(stream, {"event": b"after"})
    await own.rpush(keys.tail(0, "acme", "u1", "s1"), WORDS)
    await own.xdel(stream, doomed)
    await own.delete(keys.tail(0, "acme", "u1", "s1"))
    assert holding(tmp_path)
    assert await erase_log(own) == []
    assert holding(tmp_path) == []
    left: Any = await own.xrange(stream)
    assert [fields[b"event"] for _, fields in left] == [b"before", b"after"]


async def test_snapshots_and_full_nodes_of_streams_are_told(own: Redis) -> None:
    await own.config_set("save", "3600 1")
    await own.config_set("stream-node-max-entries", 100)
    assert [one.place for one in await erase_log(own)] == ["redis_snapshot", "redis_streams"]


async def test_user_who_may_not_rewrite_the_log_tells_that_it_remains(own: Redis, tmp_path: Path) -> None:
    forbidden = ["-bgrewriteaof", "-config"]
    await own.acl_setuser("limited", enabled=True, nopass=True, keys=["*"], categories=["+@all"], commands=forbidden)
    path = str(tmp_path / "redis" / "redis.sock")
    async with Redis(unix_socket_path=path, username="limited", password="-") as limited:  # noqa: S106 - any will do
        remaining = await erase_log(limited)
    assert [(one.place, one.until) for one in remaining] == [("redis", None), ("redis_log", None)]
    assert "BGREWRITEAOF" in remaining[1].why


async def test_log_that_takes_too_long_is_told() -> None:
    class Busy:
        """A server of many gigabytes."""

        async def info(self, _section: str) -> dict[str, int]:
            return {"aof_enabled": 1, "aof_rewrite_in_progress": 1}

        async def config_get(self, _name: str) -> dict[str, str]:
            return {"save": "", "stream-node-max-entries": "1"}

    remaining = await erase_log(Busy(), patience_s=0.1)  # type: ignore[arg-type]  # a part of Redis
    assert [(one.place, one.until) for one in remaining] == [("redis_log", None)]


@pytest.mark.parametrize(
    ("erasure", "told"),
    [(Erasure.DONE, []), (Erasure.POSTPONED, [("vectors", 90_000_007)]), (Erasure.ENGINE, [("vectors", None)])],
)
async def test_what_the_store_does_not_erase_at_once_is_told(
    erasure: Erasure, told: list[tuple[str, int | None]]
) -> None:
    class Store:
        async def erase_deleted(self, collection: str, *, most: int | None = None) -> Erasure:
            assert (collection, most) == ("memories", MOST_NOW)
            return erasure

    remaining: list[Remainder] = await erase_records(Store(), ["memories"], lambda: 7)  # type: ignore[arg-type]  # a part
    assert [(one.place, one.until) for one in remaining] == told
