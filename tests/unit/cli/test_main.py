"""The list of commands is written down so that it need not import them; it must not drift from what they say."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lithify.cli.bench import BENCHES
from lithify.cli.calibrate import CALIBRATIONS
from lithify.cli.deferred import load_command
from lithify.cli.main import COMMANDS, app

HEAVY = ("onnxruntime", "qdrant_client", "qdrant_edge", "fastapi", "rq", "redis", "numpy")


@pytest.mark.parametrize(("name", "target", "words"), COMMANDS)
def test_each_command_is_listed_with_its_own_words(name: str, target: str, words: str) -> None:
    assert " ".join(load_command(name, target).help.split("\n\n")[0].split()) == words


@pytest.mark.parametrize(("name", "words"), BENCHES)
def test_each_bench_is_listed_with_its_own_words(name: str, words: str) -> None:
    assert " ".join(load_command(name, f"lithify.cli.bench.{name}:{name}").help.split()) == words


@pytest.mark.parametrize(("name", "words"), CALIBRATIONS)
def test_each_calibration_is_listed_with_its_own_words(name: str, words: str) -> None:
    assert " ".join(load_command(name, f"lithify.cli.calibrate.{name}:{name}").help.split("\n\n")[0].split()) == words


def test_a_command_shows_its_own_options() -> None:
    shown = CliRunner().invoke(app, ["dlq", "list", "--help"])
    assert shown.exit_code == 0
    assert "lithify dlq list" in shown.output.replace("root", "lithify")
    assert "--url" in shown.output


def test_asking_a_service_loads_no_engine() -> None:
    told = f"import sys, lithify.cli.main, lithify.cli.status; print([m for m in {HEAVY!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
