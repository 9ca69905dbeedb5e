"""`lithify models`: says what is here, and fails with one readable line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lithify.cli.models import app, choose_profile, list_profiles
from lithify.embedding.building.profiles import PULLERS, WHEEL_WRITERS
from lithify.embedding.configured import default_profile
from lithify.errors import Invalid
from tests.unit.embedding.tiny_model import write_folder

RUNNER = CliRunner()


def test_profiles_not_yet_here_are_listed_with_how_to_get_them(tmp_path: Path) -> None:
    rows = {row.profile: row for row in list_profiles(tmp_path, "all-minilm-l6-v2")}
    assert not any(row.ready for row in rows.values())
    assert rows["all-minilm-l6-v2"].in_use
    assert "lithify models build --profile" in rows["all-minilm-l6-v2"].note
    assert rows["snowflake-arctic-embed-s"].note == "run `lithify models build`"
    assert "lithify models pull" in rows["nomic-embed-text-v1.5"].note


def test_folders_of_ones_own_are_listed_too(tmp_path: Path) -> None:
    write_folder(tmp_path / "mine", tiers=[2, 4, 6])
    (write_folder(tmp_path / "broken") / "tokenizer.json").unlink()
    (write_folder(tmp_path / "wrong") / "embedding.json").write_text("{}")
    result = RUNNER.invoke(app, ["list", "--models-dir", str(tmp_path), "--json"])
    rows = {row["profile"]: row for row in json.loads(result.stdout)}
    assert rows["mine"]["ready"]
    assert (rows["mine"]["dimensions"], rows["mine"]["tiers"]) == (6, [2, 4, 6])
    assert not rows["broken"]["ready"]
    assert "tokenizer.json is missing" in rows["broken"]["note"]
    assert not rows["wrong"]["ready"]
    assert "embedding.json" in rows["wrong"]["note"]


def test_the_table_is_for_people(tmp_path: Path) -> None:
    write_folder(tmp_path / "mine")
    result = RUNNER.invoke(app, ["list", "--models-dir", str(tmp_path)])
    assert result.exit_code == 0
    assert "mine" in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["build", "--wheel", "absent.whl"],
        ["build", "--profile", "snowflake-arctic-embed-s", "--wheel", "absent.whl"],
        ["import", "absent.gguf"],
        ["import", "README.md"],
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "README.md").write_text("not weights")
    paths = [str(tmp_path / word) if Path(word).suffix else word for word in command]
    result = RUNNER.invoke(app, [*paths, "--models-dir", str(tmp_path / "models")])
    assert isinstance(result.exception, Invalid)
    assert len(str(result.exception).splitlines()) == 1
    assert paths[-1] in str(result.exception)


@pytest.mark.parametrize(
    ("configured", "chosen"),
    [
        ("snowflake-arctic-embed-s", "snowflake-arctic-embed-s"),
        ("all-minilm-l6-v2", "all-minilm-l6-v2"),
        ("light", "all-minilm-l6-v2"),
        ("nomic-embed-text-v1.5", default_profile()),
        ("hash", default_profile()),
    ],
)
def test_the_configured_profile_is_built_where_it_is_in_a_wheel(
    monkeypatch: pytest.MonkeyPatch, configured: str, chosen: str
) -> None:
    monkeypatch.setenv("LITHIFY_EMBEDDING_PROFILE", configured)
    assert choose_profile(None, WHEEL_WRITERS) == chosen


def test_a_named_profile_is_taken_before_the_configured_one_and_light_is_minilm() -> None:
    assert choose_profile("nomic-embed-text-v1.5", PULLERS) == "nomic-embed-text-v1.5"
    assert choose_profile("light", WHEEL_WRITERS) == "all-minilm-l6-v2"
