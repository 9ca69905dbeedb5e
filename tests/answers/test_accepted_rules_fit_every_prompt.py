"""Hard rules that were accepted with a startup budget never degrade a prompt of that budget."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.node_process import NodeProcess

BUDGET = 1_000


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp("rules") / "data"
    node = NodeProcess(folder, models_dir, LITHIFY_STARTUP_BUDGET=str(BUDGET))
    node.start()
    yield node
    node.close()


def test_rules_are_refused_or_fit(node: NodeProcess) -> None:
    node.post("/v1/turns?wait=searchable", turn("t1", "The mugs are fired at 1220 degrees."))
    outcomes = set()
    for count in (5, 20, 24, 26, 28, 30, 34, 38, 44, 60):
        rules = "".join(f"- Never use word number {number} in any answer.\n" for number in range(count))
        accepted = node.http.put("/v1/authored/AGENTS.md", json={"text": rules}).is_success
        outcomes.add(accepted)
        if accepted:
            asked = {"user": "ada", "session": "s2", "query": "How hot are the mugs fired?", "token_budget": BUDGET}
            answer = node.post("/v1/assemble", asked).json()
            assert not [reason for reason in answer["degraded"] if "hard rules" in reason]
            assert "1220 degrees" in answer["text"]
    assert outcomes == {True, False}


def turn(event_id: str, text: str) -> dict[str, str]:
    return {"event_id": event_id, "user": "ada", "session": "s1", "role": "user", "text": text}
