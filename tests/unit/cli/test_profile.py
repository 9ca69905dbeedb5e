"""`lithify profile show` prints what can be saved, and stops at what cannot be used."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lithify.cli.main import app
from lithify.errors import Misconfigured
from lithify.profiles import BUILT_IN, load_profile, render_profile


def test_what_is_shown_can_be_saved_and_used(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["profile", "show", "seed"])
    assert shown.output == render_profile(BUILT_IN["seed"])
    saved = tmp_path / "saved.toml"
    saved.write_text(shown.output.replace("kappa = 0.3", "kappa = 0.4"), "utf-8")
    again = CliRunner().invoke(app, ["profile", "show", str(saved)])
    assert f"digest {load_profile(str(saved)).digest()}" in again.output
    assert "kappa = 0.4 " in again.output


def test_a_file_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("kappa = -1", "utf-8")
    with pytest.raises(Misconfigured, match="kappa = -1: must be a number of 0 or more"):
        CliRunner().invoke(app, ["profile", "show", str(bad)], catch_exceptions=False)
