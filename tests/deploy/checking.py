"""What the checks of the deployment files have in common: where the files are, and the programs that judge them."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def program(name: str, variable: str) -> str:
    """The one the variable names, else one on PATH; without either, skipped on a workplace and failed in CI."""
    found = os.environ.get(variable) or shutil.which(name)
    if found is None:
        reason = f"no {name}: set {variable} (see deploy/tools/fetch-debian)"
        if os.environ.get("LITHIFY_REQUIRE_DEPLOY") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def accepted(*command: str | Path, **environment: str) -> str:
    """The output of a program that must end well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))
