"""`lithify demo` as a newcomer runs it: the whole tour on a real node, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.node_process import lithify

PATIENCE_S = 120


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tmp")


@pytest.fixture(scope="module")
def environment(models_dir: Path, temporary: Path) -> dict[str, str]:
    return {"LITHIFY_MODELS_DIR": str(models_dir), "TMPDIR": str(temporary), "NO_COLOR": "1", "COLUMNS": "80"}


@pytest.fixture(scope="module")
def told(environment: dict[str, str]) -> str:
    done = lithify("demo", **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_tour_shows_every_step_with_its_figures(told: str) -> None:
    assert "52 accepted and durable" in told
    assert "52 \nduplicates" in told or "52 duplicates" in told
    assert "user turns became durable memory" in told
    assert "a sign of life" in told
    assert "of summaries" in told
    assert "of 600 tokens" in told
    assert "candidates were considered" in told


def test_the_prompt_has_the_rules_the_tail_and_the_answer(told: str) -> None:
    prompt = told[told.index("<authored_context>") :]
    assert "[A1] Never promise a delivery date." in prompt
    assert re.search(r"\[T1 \d{4}-\d\d-\d\d \d\d:\d\d (user|assistant)\] ", prompt)
    assert re.search(r"\[M1 \d{4}-\d\d-\d\d (user|assistant)\] ", prompt)
    assert "1220 degrees" in prompt[prompt.index("<recalled_memories>") : prompt.index("</recalled_memories>")]


def test_a_long_paste_is_shown_by_what_answers(told: str) -> None:
    prompt = told[told.index("<recalled_memories>") : told.index("</recalled_memories>")]
    assert "[…]" in prompt
    assert "between 1215 and 1235 degrees" in " ".join(prompt.split())
    assert "Storage" not in prompt


def test_what_changed_is_told_by_its_newest_statement(told: str) -> None:
    asked = told[told.index("When is the harbour market?") :]
    assert asked.index("19 June") < asked.index("12 June")


def test_a_question_that_memory_cannot_answer_costs_nothing(told: str) -> None:
    assert "Nothing is recalled" in told[told.index("Mongolia") :]


def test_it_fits_a_plain_terminal_of_80_columns(told: str) -> None:
    assert max(map(len, told.splitlines())) <= 80
    assert "\x1b" not in told


def test_nothing_is_left_behind(told: str, temporary: Path) -> None:
    assert told
    assert list(temporary.glob("lithify-demo-*")) == []


def test_a_tour_that_is_stopped_takes_its_node_along(environment: dict[str, str], temporary: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "lithify.cli", "demo"], env=os.environ | environment, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + PATIENCE_S
    while not list(temporary.glob("lithify-demo-*/node.log")):
        assert run.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    assert run.wait(PATIENCE_S) == 128 + signal.SIGTERM
    assert list(temporary.glob("lithify-demo-*")) == []


def test_parts_of_a_real_installation_are_refused(environment: dict[str, str]) -> None:
    refused = lithify("demo", **environment, LITHIFY_REDIS_URL="redis://127.0.0.1:1")
    assert refused.returncode == 3
    assert "unset LITHIFY_REDIS_URL" in refused.stderr
