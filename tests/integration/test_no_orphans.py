"""kill -9 of whatever was started leaves no process behind, and loses nothing that was accepted."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lithify.locks import FileLock
from tests.integration.node_process import NodeProcess, lithify
from tests.unit.evaluation.made_files import prepared

PATIENCE_S = 120.0
# An end takes a drain of the node and a sync of Redis.
ENDED_S = 40.0
TURNS = 50


def wait_until(condition: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, complaint
        time.sleep(0.05)


def is_serving(redis: Path) -> bool:
    """Whether Redis is up in a folder; its lock is not tried, for whoever starts would meet us there."""
    log = redis / "redis.log"
    return log.exists() and "eady to accept connections" in log.read_text()


def assert_ended(*locks: Path) -> None:
    """A lock that a process was born with is held until its end, and by nobody else."""
    for lock in locks:
        probe = FileLock(lock)
        assert probe.acquire(ENDED_S), f"process {probe.signature()} holds {lock} and outlives its parent"
        probe.let_go()


@contextmanager
def killed_at_the_end(command: list[str], environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    options = {"env": os.environ | environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = subprocess.Popen([sys.executable, "-m", "lithify.cli", *command], **options)  # type: ignore[call-overload]  # plain options
    try:
        yield run
    finally:
        run.kill()
        run.wait()


def turn(n: int) -> dict[str, str]:
    return {"event_id": f"k{n}", "user": "ada", "session": f"s{n % 7}", "role": "user", "text": f"fact number {n}"}


@pytest.fixture
def node(tmp_path: Path, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path / "data", models_dir)
    node.start()
    yield node
    node.close()


def test_a_killed_node_takes_its_redis_along_and_every_accepted_turn_is_there_afterwards(node: NodeProcess) -> None:
    assert node.post("/v1/turns:batch", {"turns": [turn(n) for n in range(TURNS)]}).status_code == 202
    redis = node.data_dir / "redis"
    node.kill()
    assert_ended(redis / "server.lock")
    assert not (redis / "redis.sock").exists()

    node.start()
    node.wait_drained()
    receipts = [node.http.get(f"/v1/receipts/k{n}").json() for n in range(TURNS)]
    assert all(receipt["embedded_at"] for receipt in receipts)


def test_a_killed_demo_takes_its_node_along(tmp_path: Path, models_dir: Path) -> None:
    environment = {"LITHIFY_MODELS_DIR": str(models_dir), "TMPDIR": str(tmp_path)}
    with killed_at_the_end(["demo"], environment) as run:
        wait_until(lambda: any(map(is_serving, tmp_path.glob("*/redis"))), "the demo starts no Redis")
        assert run.poll() is None
    [folder] = tmp_path.glob("lithify-demo-*")
    assert_ended(folder / "child.lock", folder / "redis" / "node.lock", folder / "redis" / "server.lock")


@pytest.mark.parametrize("moment", ["starting", "serving"])
def test_a_killed_evaluation_takes_its_node_along_and_can_go_on(tmp_path: Path, models_dir: Path, moment: str) -> None:
    data = prepared(tmp_path / "data")
    work = tmp_path / "work"
    child = work / "data" / "child.lock"
    server = work / "data" / "redis" / "server.lock"
    command = ["eval", "locomo", "--data", str(data), "--work", str(work)]
    environment = {"LITHIFY_MODELS_DIR": str(models_dir)}
    with killed_at_the_end(command, environment) as run:
        wait_until(child.exists if moment == "starting" else lambda: is_serving(server.parent), "there is no node")
        assert run.poll() is None
    assert_ended(child)
    if server.exists():
        assert_ended(server)
    done = lithify(*command, **environment)
    assert done.returncode == 0, done.stderr
