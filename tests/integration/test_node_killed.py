"""kill -9 of the node in the middle of an ingest loses nothing and stores nothing twice."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest

from lithify.events import EVERY_TENANT
from lithify.store import EdgeStore, Where
from lithify.store.memory_record import COLLECTION
from tests.integration.node_process import NodeProcess

TURNS = 2000


@pytest.fixture
def turns_file(tmp_path: Path) -> Path:
    lines = (
        {"event_id": f"k{n}", "user": f"u{n % 7}", "session": f"s{n % 31}", "role": "user", "text": f"fact number {n}"}
        for n in range(TURNS)
    )
    file = tmp_path / "turns.jsonl"
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return file


def test_every_accepted_turn_is_searchable_exactly_once(tmp_path: Path, models_dir: Path, turns_file: Path) -> None:
    node = NodeProcess(tmp_path / "data", models_dir)
    node.start()
    # Waiting for the last turn keeps the command going until long after the kill, however quickly turns are accepted.
    command = [sys.executable, "-m", "lithify.cli", "ingest", str(turns_file), "--wait", "--json"]
    ingest = subprocess.Popen(command, env=os.environ | node.environment, stdout=subprocess.PIPE)
    wait_until_some_are_stored(node)
    node.kill()
    assert ingest.poll() is None, "the ingest must still be running, or nothing is proven"

    node.start()
    out, _ = ingest.communicate(timeout=120)
    assert ingest.returncode == 0
    totals = orjson.loads(out)
    assert totals["accepted"] + totals["duplicate"] == TURNS
    node.wait_drained()
    hits = node.post("/v1/search", {"query": "fact number 1234", "limit": 5}).json()["hits"]
    assert "k1234" in [hit["event_id"] for hit in hits]
    assert node.stop() == 0
    node.close()
    assert stored_events(tmp_path / "data") == Counter({f"k{n}": 1 for n in range(TURNS)})


def wait_until_some_are_stored(node: NodeProcess) -> None:
    deadline = time.monotonic() + 60
    while not node.status()["store"]["memories"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def stored_events(data_dir: Path) -> Counter[str]:
    async def read() -> Counter[str]:
        store = EdgeStore(data_dir / "vectors")
        page = await store.scroll(EVERY_TENANT, COLLECTION, Where(), limit=2 * TURNS)
        await store.close()
        return Counter(record.payload["event_id"] for record in page.records)

    return asyncio.run(read())
