"""A whole node as a process of its own, for whatever measures the real pipeline: benchmarks, evaluations, the demo."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import httpx

from lithify.errors import Misconfigured, Unavailable
from lithify.locks import FileLock
from lithify.node.guard import GuardedProcess
from lithify.settings import Settings

# The first start may load a large model; a node that is not ready by then has a reason in its log.
START_S: Final = 120.0
STOP_S: Final = 60.0
POLL_S: Final = 0.1
LOG_TAIL: Final = 2_000
EXIT_TERMINATED: Final = 128 + signal.SIGTERM
# Parts of somebody's real memory: whatever runs on a child node must not write into them, nor read rules from them.
FOREIGN: Final = ("redis_url", "qdrant_url", "archive_dir", "authored_dir")


@dataclass(frozen=True, slots=True)
class ChildNode:
    url: str
    pid: int
    data_dir: Path


@contextmanager
def child_node(data_dir: Path, settings: Mapping[str, str]) -> Iterator[ChildNode]:
    """Runs `lithify up` on this data folder and a free port; `settings` are environment variables.

    The node ends with this process, whatever ends that, and the folder stays. Raises Unavailable with the end of its
    log if the node ends or is not ready in time, Misconfigured if another child node does not leave the folder.
    """
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    port = free_port()
    log = data_dir / "node.log"
    environment = os.environ | {"LITHIFY_DATA_DIR": str(data_dir), "LITHIFY_PORT": str(port), **settings}
    log.touch(mode=0o600)
    with log.open("ab") as output:
        command = [sys.executable, "-m", "lithify.cli", "up"]
        process = start_guarded(command, data_dir / "child.lock", env=environment, stdout=output, stderr=output)
    node = ChildNode(f"http://127.0.0.1:{port}", process.pid, data_dir)
    try:
        _wait_ready(node, process, log)
        yield node
    finally:
        _stop(process)


def start_guarded(command: Sequence[str], lock_path: Path, **options: Any) -> GuardedProcess:
    """Starts a process that ends with this one; `lock_path` names it while it lives, `options` are those of `Popen`.

    An earlier one on the same path, whose parent was killed, is given the time to end. Raises Misconfigured if it does
    not.
    """
    lock = FileLock(lock_path)
    if not lock.acquire(patience_s=STOP_S):
        raise Misconfigured(f"{lock_path.parent} is in use by process {lock.signature()}: stop it, or choose another")
    try:
        return GuardedProcess(command, lock, STOP_S, **options)
    finally:
        lock.let_go()


@contextmanager
def stopped_by_sigterm() -> Iterator[None]:
    """Unwinds after SIGTERM as after Ctrl-C, so that a child node is stopped with the command that started it."""

    def leave(*_: object) -> NoReturn:
        sys.exit(EXIT_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def refuse_foreign_parts(settings: Settings, who: str) -> None:
    """Raises Misconfigured if the settings name parts that would not be the child node's own."""
    for name in FOREIGN:
        if getattr(settings, name) is not None:
            raise Misconfigured(f"{who} runs on parts of its own; unset LITHIFY_{name.upper()} for it")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_ready(node: ChildNode, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_S
    while not _is_ready(node.url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise Unavailable(f"the node in {node.data_dir} did not start:\n{log.read_text()[-LOG_TAIL:]}")
        time.sleep(POLL_S)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5.0).is_success
    except httpx.TransportError:
        return False


def _stop(process: GuardedProcess) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.release()
