"""A profile file is used as it is written, or the process does not start and says which field is wrong."""

from pathlib import Path

from tests.integration.node_process import NodeProcess, free_port, lithify


def test_a_field_out_of_its_range_is_named_and_nothing_starts(tmp_path: Path, models_dir: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[hybrid]\nsimilarity = 1.5\n", "utf-8")
    ended = lithify(
        "up",
        LITHIFY_RETRIEVAL_PROFILE=str(file),
        LITHIFY_DATA_DIR=str(tmp_path / "data"),
        LITHIFY_MODELS_DIR=str(models_dir),
        LITHIFY_PORT=str(free_port()),
    )
    assert ended.returncode == 3
    assert "profile mine.toml: hybrid.similarity = 1.5: must be a number from 0 to 1" in ended.stderr


def test_a_profile_of_ones_own_is_named_by_its_file(tmp_path: Path, models_dir: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("tail_turns = 2\n", "utf-8")
    node = NodeProcess(tmp_path / "data", models_dir, LITHIFY_RETRIEVAL_PROFILE=str(file))
    try:
        node.start()
        assert node.status()["profile"]["name"] == "mine.toml"
    finally:
        node.close()
