"""The embedded Redis may die under a running node: it is started again and nothing accepted is lost."""

import os
import signal
import time
from pathlib import Path

import httpx

from tests.integration.node_process import NodeProcess


def test_the_node_recovers_from_the_death_of_its_redis(tmp_path: Path, models_dir: Path) -> None:
    node = NodeProcess(tmp_path / "data", models_dir)
    node.start()
    try:
        assert send(node, "before").status_code == 202
        os.kill(int((node.data_dir / "redis" / "server.lock").read_text()), signal.SIGKILL)
        assert accepted_in_the_end(node, "after")
        node.wait_drained()
        found = node.post("/v1/search", {"query": "harbour", "mode": "lexical"}).json()["hits"]
        assert {hit["event_id"] for hit in found} == {"before", "after"}
        node.wait_ready()
    finally:
        node.close()
    assert "redis_died" in node.log.read_text()


def send(node: NodeProcess, event_id: str) -> httpx.Response:
    text = f"the harbour, {event_id}"
    return node.post("/v1/turns", {"event_id": event_id, "user": "u", "session": "s", "role": "user", "text": text})


def accepted_in_the_end(node: NodeProcess, event_id: str) -> bool:
    """Callers see 503 while it is away, and try again with the same id."""
    deadline = time.monotonic() + 60
    while (answer := send(node, event_id)).status_code not in (200, 202):
        assert answer.status_code == 503, answer.text
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return True
