"""`lithify eval` as an operator runs it: real node, real model, files in and figures out."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.node_process import lithify
from tests.unit.evaluation.made_files import TURNS, prepared

BENCHMARK = Path(__file__).parent.parent / "benchmark" / "data"
INTERRUPT_SECONDS = 120


@pytest.fixture(scope="module")
def environment(models_dir: Path) -> dict[str, str]:
    return {"LITHIFY_MODELS_DIR": str(models_dir)}


def evaluated(out: Path, environment: dict[str, str], *arguments: str) -> Any:
    done = lithify("eval", "locomo", *arguments, "--json", str(out), **environment)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_bytes())


def test_a_work_folder_is_ingested_once_and_asked_under_every_profile(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    common = ("--data", str(prepared(tmp_path / "data")), "--work", str(tmp_path / "work"))
    recall = evaluated(tmp_path / "recall.json", environment, *common)
    seed = evaluated(tmp_path / "seed.json", environment, *common, "--profile", "seed")
    assert (recall["n"], recall["skipped"], recall["degraded"]) == (2, 1, 0)
    assert recall["search"]["fraction"]["5"] == 1.0
    assert recall["search"]["latency_ms"]["p95"] >= recall["search"]["latency_ms"]["p50"] > 0
    assert recall["assemble"]["1000"] == 1.0
    assert (recall["profile"], seed["profile"]) == ("recall", "seed")
    assert recall["profile_sha256"] != seed["profile_sha256"]
    assert recall["ingest_seconds"] == seed["ingest_seconds"]


def test_an_interrupted_run_stops_its_node_and_goes_on_where_it_was(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    work = tmp_path / "work"
    common = ("--data", str(BENCHMARK), "--limit-conversations", "1", "--work", str(work))
    command = [sys.executable, "-m", "lithify.cli", "eval", "locomo", *common]
    with (tmp_path / "log").open("wb") as log:
        run = subprocess.Popen(command, env=os.environ | environment, stdout=log, stderr=log)
    before = answers_so_far(work, run, tmp_path / "log")
    run.send_signal(signal.SIGTERM)
    assert run.wait(60) == 128 + signal.SIGTERM

    report = evaluated(tmp_path / "out.json", environment, *common)
    [journal] = work.glob("answers-*.done.jsonl")
    after = journal.read_text().splitlines()
    assert after[: len(before)] == before
    assert len(after) == report["n"] > len(before)


def answers_so_far(work: Path, run: "subprocess.Popen[bytes]", log: Path) -> list[str]:
    deadline = time.monotonic() + INTERRUPT_SECONDS
    while time.monotonic() < deadline:
        assert run.poll() is None, log.read_text()
        for journal in work.glob("answers-*.jsonl"):
            if len(lines := journal.read_text().splitlines()) > 1:
                return lines[:-1]  # the last one may still be being written
        time.sleep(0.05)
    raise AssertionError(f"no answers in {INTERRUPT_SECONDS} s:\n{log.read_text()}")


def test_a_malformed_file_is_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = prepared(tmp_path, turns=[TURNS[0], b"{broken\n"])
    refused = lithify("eval", "locomo", "--data", str(folder))
    assert refused.returncode == 1
    assert "turns.jsonl line 2 is not JSON" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_figures_that_cannot_be_written_are_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    refused = lithify("eval", "locomo", "--data", str(folder), "--json", str(tmp_path / "missing" / "out.json"))
    assert refused.returncode == 1
    assert "cannot be written" in refused.stderr


def test_parts_of_somebody_else_are_never_used(tmp_path: Path) -> None:
    folder = prepared(tmp_path / "data")
    refused = lithify("eval", "locomo", "--data", str(folder), LITHIFY_REDIS_URL="redis://production:6379")
    assert refused.returncode == 3
    assert "LITHIFY_REDIS_URL" in refused.stderr
