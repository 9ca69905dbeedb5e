"""A session that Redis no longer knows goes on where it was: its newest turns come from the store."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess, lithify

TALK = [f"Part {n} of our plan for the lighthouse." for n in range(6)]


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("other") / "data", models_dir)
    node.start()
    yield node
    node.close()


def plan(node: NodeProcess, user: str) -> None:
    for place, text in enumerate(TALK):
        turn = {"event_id": f"{user}-{place}", "user": user, "session": "plan", "role": "user", "text": text}
        assert node.post("/v1/turns", turn).is_success
    node.wait_drained()


def tail_of(node: NodeProcess, user: str) -> list[str]:
    asked = {"user": user, "session": "plan", "query": "What is next?", "token_budget": 2000}
    answer = node.post("/v1/assemble", asked).json()
    assert answer["degraded"] == []
    tails = [block["entries"] for block in answer["blocks"] if block["name"] == "recent_session_tail"]
    return [entry["text"] for entries in tails for entry in entries]


def test_after_redis_was_lost_the_tail_is_there(node: NodeProcess) -> None:
    plan(node, "keeper")
    node.stop()
    shutil.rmtree(node.data_dir / "redis")
    node.start()
    assert tail_of(node, "keeper")[-4:] == TALK[-4:]
    turn = {"event_id": "keeper-new", "user": "keeper", "session": "plan", "role": "user", "text": "I am back."}
    assert node.post("/v1/turns?wait=searchable", turn).is_success
    assert tail_of(node, "keeper")[-4:] == [*TALK[-3:], "I am back."]


def test_after_an_import_the_tail_is_there(node: NodeProcess, other: NodeProcess, tmp_path: Path) -> None:
    plan(node, "mover")
    moved = tmp_path / "memory.jsonl"
    assert lithify("export", "--user", "mover", "--output", str(moved), **node.environment).returncode == 0
    assert lithify("import", str(moved), **other.environment).returncode == 0
    assert tail_of(other, "mover")[-4:] == TALK[-4:]
