"""The embedded server: durable, alone on its folder, and heard when it dies."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError, OutOfMemoryError  # noqa: A004

from lithify.errors import Misconfigured
from lithify.locks import FileLock
from lithify.node.memory import read_memory
from lithify.node.redis_binary import ServerBinary, prefer_writer
from lithify.node.redis_server import SOCKET_PATH_LIMIT, EmbeddedRedis, ServerDied
from lithify.streams import open_consumer
from tests.integration.stream_parts import eventually
from tests.redis_fixtures import chosen_binary

PATIENCE_S = 15.0

NODE = """
import asyncio, sys
from pathlib import Path
from lithify.node.redis_server import EmbeddedRedis

async def main():
    async with EmbeddedRedis(Path(sys.argv[1])) as server:
        print(server._guard._process.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def embedded(folder: Path) -> EmbeddedRedis:
    return EmbeddedRedis(folder, binary=chosen_binary())


def damage(folder: Path) -> None:
    # Redis before 7.0 keeps one file instead of a folder with a manifest.
    for path in (*folder.rglob("*.manifest"), *folder.glob("appendonly.aof")):
        path.write_text("nonsense\n")


@asynccontextmanager
async def client_of(server: EmbeddedRedis) -> AsyncIterator[Redis]:
    async with Redis.from_url(server.url, socket_timeout=5) as client:
        yield client


async def test_data_survives_a_restart(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server, client_of(server) as client:
        await client.set("kept", "yes", ex=60)
    async with embedded(tmp_path) as server, client_of(server) as client:
        assert await client.get("kept") == b"yes"


async def test_data_survives_kill_minus_nine_of_the_server(tmp_path: Path) -> None:
    server = embedded(tmp_path)
    await server.start()
    async with client_of(server) as client:
        await client.set("kept", "yes", ex=60)
    server.process.kill()
    with pytest.raises(ServerDied):
        await server.watch()

    await server.start()

    async with client_of(server) as client:
        assert await client.get("kept") == b"yes"
    await server.stop()


@pytest.mark.parametrize(
    ("setting", "value"), [("appendonly", "yes"), ("maxmemory-policy", "noeviction"), ("save", "")]
)
async def test_nothing_accepted_can_be_evicted_or_kept_in_memory_only(tmp_path: Path, setting: str, value: str) -> None:
    async with embedded(tmp_path) as server, client_of(server) as client:
        assert await client.config_get(setting) == {setting: value}


async def test_fsync_policy_is_the_chosen_one(tmp_path: Path) -> None:
    async with EmbeddedRedis(tmp_path, fsync="always", binary=chosen_binary()) as server, client_of(server) as client:
        assert await client.config_get("appendfsync") == {"appendfsync": "always"}


async def test_unexpected_death_is_reported_with_the_last_words(tmp_path: Path) -> None:
    server = embedded(tmp_path)
    await server.start()
    watching = asyncio.create_task(server.watch())

    server.process.kill()

    with pytest.raises(ServerDied, match=r"(?si)exit code -9.*ready to accept connections"):
        await watching
    await server.stop()


async def test_a_wanted_stop_is_no_death(tmp_path: Path) -> None:
    server = embedded(tmp_path)
    await server.start()
    watching = asyncio.create_task(server.watch())

    await server.stop()

    await watching
    assert server.process.returncode == 0


async def test_a_second_node_on_the_folder_is_refused_by_name_and_pid(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server:
        with pytest.raises(Misconfigured, match=rf"{tmp_path} is in use by process {os.getpid()}"):
            await embedded(tmp_path).start()
        async with client_of(server) as client:
            assert await client.ping()


@asynccontextmanager
async def running_node(folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """A process with a server, and the pid of the guard beside that."""
    node = await asyncio.create_subprocess_exec(sys.executable, "-c", NODE, folder, stdout=asyncio.subprocess.PIPE)
    assert node.stdout is not None
    guard = int(await node.stdout.readline())
    yield node, guard
    if node.returncode is None:
        node.kill()
        await node.wait()


async def test_the_server_ends_with_a_killed_node_and_nothing_is_lost(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "server.lock")
    async with running_node(tmp_path) as (node, _):
        async with Redis.from_url(f"unix://{tmp_path}/redis.sock") as client:
            await client.set("kept", "yes", ex=60)
        assert not lock.acquire(), "the server must be running, or nothing is proven"
        node.kill()
        await node.wait()
        assert await asyncio.to_thread(lock.acquire, PATIENCE_S), "the server outlives its node"
        lock.let_go()

    async with EmbeddedRedis(tmp_path) as server, client_of(server) as client:
        assert await client.get("kept") == b"yes"


async def test_a_server_whose_guard_was_killed_too_is_replaced_without_loss(tmp_path: Path) -> None:
    async with running_node(tmp_path) as (node, guard):
        os.kill(guard, signal.SIGKILL)
        node.kill()
        await node.wait()
    async with open_consumer(f"unix://{tmp_path}/redis.sock", block_ms=0) as orphan:
        connection = orphan.client()
        await connection.set("kept", "yes", ex=60)

        async with EmbeddedRedis(tmp_path) as server, client_of(server) as client:
            assert await client.get("kept") == b"yes"
            with pytest.raises(ConnectionError):
                await connection.ping()
        await connection.aclose()


async def test_the_guard_of_a_killed_node_leaves_the_server_of_the_next_one_alone(tmp_path: Path) -> None:
    async with running_node(tmp_path) as (node, guard):
        os.kill(guard, signal.SIGSTOP)
        node.kill()
        await node.wait()
    async with EmbeddedRedis(tmp_path) as server, client_of(server) as client:
        os.kill(guard, signal.SIGCONT)
        await eventually(lambda: has_ended(guard))
        assert await client.ping()


async def test_a_stopped_server_leaves_no_guard_behind(tmp_path: Path) -> None:
    async with running_node(tmp_path) as (node, guard):
        node.send_signal(signal.SIGINT)
        await node.wait()
        assert has_ended(guard)


def has_ended(pid: int) -> bool:
    """A process that nobody has fetched yet counts as ended."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] in ("", "Z")


async def test_a_folder_name_too_long_for_a_socket_gets_a_guarded_loopback_port(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * SOCKET_PATH_LIMIT)
    async with embedded(folder) as server:
        assert server.url.startswith("redis://:")
        assert "@127.0.0.1:" in server.url
        async with client_of(server) as client:
            assert await client.ping()
            assert await client.config_get("bind") == {"bind": "127.0.0.1"}


async def test_a_damaged_data_folder_is_named_with_the_servers_words(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server, client_of(server) as client:
        await client.set("kept", "yes", ex=60)
    damage(tmp_path)

    with pytest.raises(Misconfigured, match=rf"(?s)Redis cannot start in {tmp_path}.*(AOF|append only)"):
        await embedded(tmp_path).start()


async def test_a_failed_start_gives_the_folder_free(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="is not a Redis or Valkey server"):
        await EmbeddedRedis(tmp_path, binary=Path(sys.executable)).start()

    async with embedded(tmp_path) as server, client_of(server) as client:
        assert await client.ping()


async def test_a_file_in_place_of_the_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match=r"data folder .*/file cannot be used: File exists"):
        await EmbeddedRedis(tmp_path / "file").start()


async def fill(client: Redis, size: int) -> None:
    for n in range(size // 2**20):
        await client.set(f"filler-{n}", b"x" * 2**20, ex=60)


async def test_it_takes_no_more_memory_than_it_may(tmp_path: Path) -> None:
    memory = 32 * 2**20
    async with EmbeddedRedis(tmp_path, binary=chosen_binary(), memory=memory) as server, client_of(server) as client:
        assert await client.config_get("maxmemory") == {"maxmemory": str(memory)}
        with pytest.raises(OutOfMemoryError):
            await fill(client, memory)
        assert await client.ping()


async def test_without_a_setting_its_memory_is_a_share_of_the_machines(tmp_path: Path) -> None:
    async with embedded(tmp_path) as server, client_of(server) as client:
        found = await client.config_get("maxmemory")
    assert 0 < int(found["maxmemory"] or 0) <= read_memory() / 4


async def test_only_the_owner_may_enter_the_folder(tmp_path: Path) -> None:
    async with embedded(tmp_path / "data") as server:
        assert server.data_dir.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("written_by", "chosen"), [(None, "redis"), ("redis", "redis"), ("valkey", "valkey"), ("x", "redis")]
)
def test_a_folder_is_opened_by_the_product_that_wrote_it(written_by: str | None, chosen: str) -> None:
    found = [ServerBinary(Path("a"), "redis", (7, 0)), ServerBinary(Path("b"), "valkey", (9, 1))]
    assert prefer_writer(found, written_by).product == chosen
