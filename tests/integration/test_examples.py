"""Runs every program of docs/examples on a real node, as a newcomer who copies it would."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SECONDS = 120


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("examples") / "data", models_dir)
    node.start()
    yield node
    node.close()


def run(node: NodeProcess, name: str, *arguments: str, expected: int = 0) -> str:
    """Returns what the program printed; its errors are told if it ends with another code than expected."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    environment = os.environ | {"LITHIFY_URL": node.url}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def test_a_chat_loop_recalls_what_was_said_in_another_session(node: NodeProcess) -> None:
    assert "I moved to Lisbon in May" in run(node, "chat_loop.py")


def test_two_hosts_share_a_user_and_repeat_safely(node: NodeProcess) -> None:
    printed = run(node, "several_hosts.py")
    assert "phone: accepted\n" in printed
    assert "phone: duplicate\n" in printed
    assert "found: My train to Porto leaves at 9:40 on Friday." in printed


def test_a_bulk_import_reports_what_was_refused_and_stores_nothing_twice(node: NodeProcess, tmp_path: Path) -> None:
    turn = {"user": "alan", "session": "old", "role": "user"}
    lines = [turn | {"event_id": f"old-{n}", "text": f"Note number {n}."} for n in range(300)]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in [*lines, turn | {"event_id": "bad", "role": "cook"}]))

    assert "line 301: role:" in run(node, "bulk_import.py", str(file), expected=1)
    assert "256 of 301: 0 new, 256 known" in run(node, "bulk_import.py", str(file), expected=1)


def test_forgetting_is_verified(node: NodeProcess) -> None:
    printed = run(node, "forgetting.py")
    assert printed.count("True") == 3
    assert "cannot be read any more" in printed
    assert "hits left: 0" in printed


def test_an_answer_is_explained_candidate_by_candidate(node: NodeProcess) -> None:
    printed = run(node, "explaining.py")
    assert "injected" in printed
    assert "1220 degrees" in printed


def test_every_example_is_run_here_and_listed_for_readers() -> None:
    programs = {path.name for path in EXAMPLES.glob("*.py")}
    tested = Path(__file__).read_text("utf-8")
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    assert programs
    assert not [name for name in programs if f'"{name}"' not in tested or f"({name})" not in listed]
