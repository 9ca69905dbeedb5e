"""The Redis-compatible server the node runs as its child, so that `lithify up` needs nothing installed."""

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import quote

import structlog
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError

from lithify.errors import LithifyError, Misconfigured, Unavailable
from lithify.locks import FileLock
from lithify.node.guard import ChildGuard
from lithify.node.memory import choose_redis_memory
from lithify.node.redis_binary import ServerBinary, choose_binary, inspect_binary

Fsync = Literal["everysec", "always"]

# sun_path holds 108 bytes on Linux and 104 on macOS, the closing zero included.
SOCKET_PATH_LIMIT: Final = 103
STARTUP_S: Final = 30.0
# Some 10 GB of append-only file from a slow disk.
LOADING_S: Final = 600.0
# Flushing the append-only file takes moments; a server that needs longer is stuck.
STOP_S: Final = 20.0
POLL_S: Final = 0.02
LAST_WORDS: Final = 5

log = structlog.get_logger(__name__)


class ServerDied(LithifyError):
    """The embedded Redis server ended by itself."""


@dataclass(frozen=True, slots=True)
class Address:
    url: str
    config: tuple[str, ...]


class EmbeddedRedis:
    """A server on its own folder, one node per folder; data of earlier runs is reused.

    It ends within seconds of this process, however that ends, with its data synced; a start in these seconds, or after
    its guard was killed too, ends the old server first. It refuses writes beyond `memory` bytes and evicts nothing.
    After ServerDied, `start()` may be called again and serves at the same URL.
    """

    def __init__(
        self, data_dir: Path, *, fsync: Fsync = "everysec", binary: Path | None = None, memory: int | None = None
    ) -> None:
        self.data_dir = data_dir.absolute()
        self._fsync = fsync
        self._binary = binary
        self._memory = memory or choose_redis_memory(None)
        self._node_lock = FileLock(self.data_dir / "node.lock")
        self._server_lock = FileLock(self.data_dir / "server.lock")
        self._written_by = self.data_dir / "written_by"
        self._log = self.data_dir / "redis.log"
        self._address = address_for(self.data_dir / "redis.sock")
        self._process: asyncio.subprocess.Process | None = None
        self._guard: ChildGuard | None = None
        self._stopping = False

    @property
    def url(self) -> str:
        return self._address.url

    @property
    def process(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the embedded Redis was not started")
        return self._process

    async def start(self) -> None:
        """Starts the server, which is ready for commands on return.

        Raises Misconfigured if the folder is in use or the server cannot start.
        """
        self._claim_folder()
        self._stopping = False
        try:
            await self._end_orphan()
            binary = await asyncio.to_thread(self._choose_binary)
            await self._spawn(binary.path)
            await self._until_ready()
            self._written_by.write_text(binary.product)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends the server; everything accepted is on disk on return."""
        self._stopping = True
        if self._process is not None and self._process.returncode is None:
            await _end(self._process)
        # Before the folder is given free: the guard looks at the lock of the server.
        await self._dismiss_guard()
        self._server_lock.let_go()
        self._node_lock.let_go()

    async def watch(self) -> None:
        """Returns after `stop()`; raises ServerDied, with the last lines of its log, if the server ends by itself."""
        code = await self.process.wait()
        if not self._stopping:
            raise ServerDied(
                f"the embedded Redis ended by itself (exit code {code}), saying last:\n{self._last_words()}"
            )

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _claim_folder(self) -> None:
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            ours = self._node_lock.is_held or self._node_lock.acquire()
        except OSError as error:
            raise Misconfigured(f"data folder {self.data_dir} cannot be used: {error.strerror}") from error
        if not ours:
            holder = self._node_lock.signature()
            raise Misconfigured(
                f"data folder {self.data_dir} is in use by process {holder}: stop it, or choose another"
            )

    async def _end_orphan(self) -> None:
        """Ends a server whose node was killed. While it holds the lock that it shares, its pid cannot be another's."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self._server_lock.acquire():
                return
            orphan = self._server_lock.signature()
            log.warning("orphan_redis", pid=orphan, signal=number.name)
            if orphan is not None:
                with suppress(ProcessLookupError):
                    os.kill(orphan, number)
            if await _becomes_true(self._server_lock.acquire, STOP_S):
                return
        raise Misconfigured(f"a Redis server of an earlier run still holds {self._server_lock.path} and does not end")

    async def _dismiss_guard(self) -> None:
        if self._guard is not None:
            await asyncio.to_thread(self._guard.dismiss)
            self._guard = None

    async def _spawn(self, binary: Path) -> None:
        config = self._write_config()
        if self._log.exists():
            self._log.replace(self._log.with_suffix(".log.1"))
        self._log.touch(mode=0o600)
        # The guard of a server that died by itself.
        await self._dismiss_guard()
        self._guard = ChildGuard(self._server_lock, STOP_S)
        with self._log.open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                binary,
                config,
                cwd=self.data_dir,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Out of the terminal's process group: Ctrl-C must not end Redis before the workers have drained.
                start_new_session=True,
                pass_fds=(self._server_lock.descriptor,),
            )
        self._guard.protect(self._process.pid)

    def _choose_binary(self) -> ServerBinary:
        if self._binary is None:
            return choose_binary(self._written_by.read_text() if self._written_by.exists() else None)
        binary = inspect_binary(self._binary)
        if binary is None:
            raise Misconfigured(f"{self._binary} is not a Redis or Valkey server")
        return binary

    def _write_config(self) -> str:
        path = self.data_dir / "redis.conf"
        path.touch(mode=0o600)
        chosen = (f"appendfsync {self._fsync}", f"maxmemory {self._memory}")
        path.write_text("\n".join((*_DURABLE, *chosen, *self._address.config, "")))
        return path.name

    async def _until_ready(self) -> None:
        clock = asyncio.get_running_loop().time
        started = clock()
        limit = STARTUP_S
        async with Redis.from_url(self.url, socket_timeout=1, retry=Retry(NoBackoff(), 0)) as client:
            while (answer := await _ask(client)) != "ready":
                if self.process.returncode is not None:
                    raise Misconfigured(f"Redis cannot start in {self.data_dir}, saying last:\n{self._last_words()}")
                if answer == "loading":
                    limit = LOADING_S
                if clock() - started > limit:
                    raise Unavailable(f"Redis in {self.data_dir} did not answer within {limit:.0f} s")
                await asyncio.sleep(POLL_S)

    def _last_words(self) -> str:
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return "\n".join(lines[-LAST_WORDS:])


# Nothing accepted may be evicted, and everything accepted is in the append-only file.
_DURABLE: Final = (
    "dir .",
    "daemonize no",
    'logfile ""',
    'save ""',
    "appendonly yes",
    "maxmemory-policy noeviction",
    # An entry that is deleted from a stream stays in its node, and in every file, until the whole node goes.
    "stream-node-max-entries 1",
)


def address_for(socket_path: Path) -> Address:
    """Chooses a unix socket only its owner can open; where its path is too long, a loopback port with a password."""
    if len(os.fsencode(socket_path)) <= SOCKET_PATH_LIMIT:
        config = ("port 0", f"unixsocket {socket_path.name}", "unixsocketperm 600")
        return Address(f"unix://{quote(str(socket_path))}", config)
    port = _free_port()
    password = secrets.token_urlsafe(24)
    config = ("bind 127.0.0.1", f"port {port}", f"requirepass {password}")
    return Address(f"redis://:{password}@127.0.0.1:{port}", config)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        log.error("redis_killed", pid=process.pid, waited_s=STOP_S)
        process.kill()
        await process.wait()


async def _ask(client: Redis) -> Literal["ready", "loading", "silent"]:
    try:
        await client.ping()
    except BusyLoadingError:
        return "loading"
    except RedisError:
        return "silent"
    return "ready"


async def _becomes_true(condition: Callable[[], bool], limit_s: float) -> bool:
    clock = asyncio.get_running_loop().time
    deadline = clock() + limit_s
    while clock() < deadline:
        if condition():
            return True
        await asyncio.sleep(POLL_S)
    return False
