"""A model folder appears whole or not at all."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lithify.embedding import load_embedder
from lithify.embedding.building.installation import install
from lithify.errors import Invalid, LithifyError
from tests.unit.embedding.tiny_model import write_folder


def write(folder: Path) -> None:
    write_folder(folder)


def fail(folder: Path) -> None:
    write_folder(folder)
    raise Invalid("the weights are wrong")


def fill_the_disk(folder: Path) -> None:
    raise OSError(28, "No space left on device")


def entries(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.endswith(".lock")}


def test_a_written_folder_can_be_loaded(tmp_path: Path) -> None:
    models = tmp_path / "not" / "yet" / "there"
    assert install(models, "tiny", "recipe 1", write)
    assert load_embedder(models, "tiny", threads=1).health().ready
    assert entries(models) == {"tiny"}


def test_the_same_recipe_is_not_written_twice(tmp_path: Path) -> None:
    install(tmp_path, "tiny", "recipe 1", write)
    assert not install(tmp_path, "tiny", "recipe 1", fail)


def test_another_recipe_replaces_the_folder(tmp_path: Path) -> None:
    install(tmp_path, "tiny", "recipe 1", write)
    (tmp_path / "tiny" / "left over").touch()
    assert install(tmp_path, "tiny", "recipe 2", write)
    assert not (tmp_path / "tiny" / "left over").exists()


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "embedding.json", "recipe"])
def test_a_folder_that_lost_a_file_is_written_again(tmp_path: Path, name: str) -> None:
    install(tmp_path, "tiny", "recipe 1", write)
    (tmp_path / "tiny" / name).unlink()
    assert install(tmp_path, "tiny", "recipe 1", write)
    assert (tmp_path / "tiny" / name).exists()


@pytest.mark.parametrize(("writer", "complaint"), [(fail, "weights are wrong"), (fill_the_disk, "No space left")])
def test_a_failed_build_leaves_the_old_folder_and_no_rest(tmp_path: Path, writer: object, complaint: str) -> None:
    install(tmp_path, "tiny", "recipe 1", write)
    assert callable(writer)
    with pytest.raises(LithifyError, match=complaint):
        install(tmp_path, "tiny", "recipe 2", writer)
    assert load_embedder(tmp_path, "tiny", threads=1).health().ready
    assert entries(tmp_path) == {"tiny"}


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LithifyError, match="the model cannot be written to"):
        install(tmp_path / "file" / "models", "tiny", "recipe 1", write)


def test_of_two_builders_at_once_one_writes_and_the_other_waits(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        fresh = list(pool.map(lambda _: install(tmp_path, "tiny", "recipe 1", write), range(4)))
    assert sorted(fresh) == [False, False, False, True]
