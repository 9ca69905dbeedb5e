"""Every part as a process of its own: load while embedding grows from one to three workers and one of them is killed.

What the dashboard says afterwards is compared with the driver's own list of what was accepted.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.server.processes import Processes, fetched, is_alive, running_processes, until

pytestmark = pytest.mark.chaos

BATCH: Final = 50
BATCHES: Final = 8
TURNS: Final = BATCH * BATCHES
PARTS: Final = ("redis", "qdrant", "assembly", "gateway", "dashboard", "e1", "g1", "a1", "maintenance", "compaction")
PATIENCE_S: Final = 300.0
SETTINGS: Final = {
    # Small enough that every worker gets its share, and a killed one's is soon taken over.
    "LITHIFY_EMBED_BATCH_TURNS": "8",
    "LITHIFY_LEASE_MS": "3000",
}

Ledger = dict[str, str]
"""Event id and text of every turn that was accepted."""


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory, qdrant_binary: Path, models_dir: Path) -> Iterator[Processes]:
    settings = SETTINGS | {"LITHIFY_MODELS_DIR": str(models_dir)}
    with running_processes(tmp_path_factory.mktemp("run") / "data", qdrant_binary, 1, settings) as running:
        yield running


def send(processes: Processes, ledger: Ledger, batch: int) -> None:
    turns = [
        {"event_id": f"b{batch}-{n}", "user": f"u{n % 5}", "session": f"s{n % 20}", "role": "user", "text": f"fact {n}"}
        for n in range(BATCH)
    ]
    until(lambda: is_accepted(processes, turns), PATIENCE_S, lambda: f"batch {batch} was not accepted")
    ledger.update({turn["event_id"]: turn["text"] for turn in turns})


def is_accepted(processes: Processes, turns: list[dict[str, str]]) -> bool:
    """Sent again after a lost answer, as a host would: then they are duplicates."""
    answer = httpx.post(f"{processes.address('gateway')}/v1/turns:batch", json={"turns": turns}, timeout=60.0).json()
    return bool(answer["accepted"] + answer["duplicate"] == len(turns))


def board(processes: Processes, page: str) -> Any:
    return fetched(f"{processes.address('dashboard')}/v1/{page}")


def embedding_workers(processes: Processes) -> set[str]:
    """Names as the dashboard lists them, without their slots."""
    return {row["name"].rpartition("-")[0] for row in board(processes, "workers") if row["kind"] == "embed"}


def is_drained(processes: Processes) -> bool:
    stages = board(processes, "overview")["stages"]
    return all(stage["unread"] == stage["pending"] == 0 for stage in stages)


def is_worked_off(processes: Processes, turns: int) -> bool:
    """What the board shows may be a moment older than the last batch, so the store is asked, too."""
    return is_drained(processes) and stored_turns(processes) >= turns


def stored_turns(processes: Processes) -> int:
    """Counted by Qdrant itself."""
    only = {"must": [{"key": "kind", "match": {"value": "turn"}}]}
    url = f"{processes.address('qdrant')}/collections/memories/points/count"
    answer = httpx.post(url, json={"filter": only, "exact": True}, timeout=30.0).raise_for_status().json()
    return int(answer["result"]["count"])


@pytest.fixture(scope="module")
def ledger(processes: Processes) -> Ledger:
    """The whole run: load on one worker, two more join, one is killed under load, all of it is worked off."""
    sent: Ledger = {}
    for batch in range(2):
        send(processes, sent, batch)
    processes.start_embed_worker("e2")
    processes.start_embed_worker("e3")
    until(lambda: embedding_workers(processes) == {"e1", "e2", "e3"}, PATIENCE_S, lambda: board(processes, "workers"))
    for batch in range(2, BATCHES - 1):
        send(processes, sent, batch)
    os.kill(processes.pid("e1"), signal.SIGKILL)
    send(processes, sent, BATCHES - 1)
    until(lambda: is_worked_off(processes, len(sent)), PATIENCE_S, lambda: board(processes, "overview"))
    return sent


def test_every_accepted_turn_is_stored_exactly_once(processes: Processes, ledger: Ledger) -> None:
    assert len(ledger) == TURNS
    assert stored_turns(processes) == TURNS
    gateway = processes.address("gateway")
    receipts = [fetched(f"{gateway}/v1/receipts/{event}") for event in ledger]
    assert all(receipt["embedded_at"] and receipt["gated_at"] for receipt in receipts)


def test_the_dashboard_agrees_with_the_ledger(processes: Processes, ledger: Ledger) -> None:
    streams = board(processes, "streams")
    added = {kind: sum(row["added"] for row in streams if f":{kind}:" in row["stream"]) for kind in ("turns", "stored")}
    assert added["turns"] == len(ledger)
    # A turn whose worker was killed between storing and acknowledging is announced twice; storing it twice is harmless.
    assert len(ledger) <= added["stored"] <= len(ledger) + len(ledger) // 4
    assert board(processes, "overview")["dead_letters"]["count"] == 0
    status = fetched(f"{processes.address('assembly')}/v1/status")
    assert (status["unfinished"], status["dead_letters"]) == (0, 0)
    assert status["store"]["memories"] >= len(ledger)


def test_the_workers_that_joined_did_part_of_the_work(processes: Processes, ledger: Ledger) -> None:
    assert ledger
    until(lambda: joined_work(processes, "e2") > 0, PATIENCE_S, lambda: board(processes, "workers"))
    until(lambda: joined_work(processes, "e3") > 0, PATIENCE_S, lambda: board(processes, "workers"))


def joined_work(processes: Processes, name: str) -> int:
    rows = [row for row in board(processes, "workers") if row["kind"] == "embed" and row["name"].startswith(f"{name}-")]
    return sum(row["tally"]["handled"] for row in rows)


def test_a_killed_worker_leaves_the_dashboard_and_is_reported(processes: Processes, ledger: Ledger) -> None:
    assert ledger
    until(lambda: embedding_workers(processes) == {"e2", "e3"}, PATIENCE_S, lambda: board(processes, "workers"))
    until(lambda: "e1 (pid" in processes.told, PATIENCE_S, lambda: processes.told)
    assert "ended with 137" in processes.told


def test_stopping_ends_every_process_and_keeps_the_data(processes: Processes, ledger: Ledger) -> None:
    assert ledger
    pids = [processes.pid(name) for name in PARTS]
    assert processes.stop() == 0
    assert [pid for pid in pids if is_alive(pid)] == []
    assert list((processes.data / "archive").rglob("*")), "the archive is empty"
    assert "stopped" in processes.told
