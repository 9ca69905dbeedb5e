"""`LITHIFY_RETRIEVAL_PROFILE=seed` alone sets the gate, the tiers and the guard of the sources, too."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from lithify.profiles import BUILT_IN
from tests.integration.node_process import NodeProcess


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(tmp_path_factory.mktemp("seed") / "data", models_dir, LITHIFY_RETRIEVAL_PROFILE="seed")
    node.start()
    yield node
    node.close()


def gated(node: NodeProcess, event_id: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while True:
        receipt: dict[str, Any] = node.http.get(f"/v1/receipts/{event_id}").json()
        if receipt.get("gate"):
            gate = receipt["gate"]
            return receipt | {"gate": orjson.loads(gate) if isinstance(gate, str) else gate}
        assert time.monotonic() < deadline, receipt
        time.sleep(0.05)


def test_the_gate_decides_by_the_patterns_of_the_sources(node: NodeProcess) -> None:
    said = {"event_id": "t1", "user": "bo", "session": "s1", "role": "user", "text": "hello"}
    node.post("/v1/turns?wait=searchable", said)
    receipt = gated(node, "t1")
    assert receipt["gate"]["gating_score"] == pytest.approx(0.35)
    assert receipt["gate"]["gating_patterns"] == "gp1"
    assert receipt["promoted"] in (True, "1")


def test_the_status_and_every_receipt_name_the_profile(node: NodeProcess) -> None:
    expected = {"name": "seed", "digest": BUILT_IN["seed"].digest()}
    assert node.status()["profile"] == expected
    asked = {"user": "bo", "session": "s2", "query": "What did Mia buy after the fair?", "token_budget": 4000}
    trace = node.http.get(f"/v1/traces/{node.post('/v1/assemble', asked).json()['trace_id']}").json()
    assert trace["profile"] == expected
    assert trace["temporal"]["guard"] == {"applies": True, "reason": "indicator"}
    # Every pool is searched by the tiers that are calibrated for the default model.
    assert {tier["tier"] for tier in trace["tiers"]} == {"l2", "l3"}
