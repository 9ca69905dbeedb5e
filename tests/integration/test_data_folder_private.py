"""Everything in the data folder is its owner's alone, after all that a node does, and whatever was there before."""

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess, lithify

OTHERS = 0o077


@pytest.fixture
def node(tmp_path: Path, models_dir: Path) -> Iterator[NodeProcess]:
    """Started with the least careful umask that an operator can have."""
    before = os.umask(0)
    node = NodeProcess(tmp_path / "data", models_dir)
    node.start()
    yield node
    node.close()
    os.umask(before)


def readable_by_others(folder: Path) -> dict[str, str]:
    paths = [folder, *folder.rglob("*")]
    return {str(path): stat.filemode(path.lstat().st_mode) for path in paths if path.lstat().st_mode & OTHERS}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def use(node: NodeProcess) -> None:
    """Turns, a compaction, a search, a document and a forgetting."""
    turns = [
        {
            "event_id": f"e{n}",
            "user": "ada",
            "session": f"s{n % 2}",
            "role": "user",
            "text": f"I paint wall number {n}.",
        }
        for n in range(120)
    ]
    assert node.post("/v1/turns:batch", {"turns": turns}).status_code == 202
    node.wait_drained()
    assert node.post("/v1/sessions/s0/compact", {"user": "ada", "force": True}).is_success
    until(lambda: node.http.get("/v1/sessions/s0/compact?user=ada").json()["status"] == "finished")
    assert node.http.put("/v1/authored/AGENTS.md", json={"text": "# Rules\n\nNever promise a date.\n"}).is_success
    assert lithify("forget", "--session", "s1", "--user", "ada", "--yes", **node.environment).returncode == 0
    body = {"user": "ada", "session": "s0", "query": "What do I paint?", "token_budget": 1000}
    assert node.post("/v1/assemble", body).status_code == 200
    until(lambda: any((node.data_dir / "traces").rglob("*/*")))


def test_nothing_in_the_data_folder_can_be_read_by_others(tmp_path: Path, node: NodeProcess) -> None:
    use(node)
    export = tmp_path / "export.jsonl"
    assert lithify("export", "--output", str(export), **node.environment).returncode == 0
    assert readable_by_others(node.data_dir) == {}
    assert export.stat().st_mode & 0o777 == 0o600
    assert node.stop() == 0
    assert readable_by_others(node.data_dir) == {}


def test_what_an_earlier_release_left_readable_is_made_private_at_start(node: NodeProcess) -> None:
    assert node.stop() == 0
    for path in (node.data_dir, *node.data_dir.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shared = node.data_dir / "notes.txt"
    shared.write_text("of somebody else")
    node.start()
    assert readable_by_others(node.data_dir).keys() == {str(shared)}, "ours must be private, the rest left alone"
