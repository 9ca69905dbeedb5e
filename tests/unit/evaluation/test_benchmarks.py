"""Data sets are recognised by their content, alone or in a folder of many."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import BenchmarkName, find_datasets, load_dataset
from lithify.evaluation.datasets.benchmarks import recognise
from tests.unit.evaluation.made_files import (
    as_json,
    beam_chat,
    locomo_sample,
    longmemeval_instance,
    memdaily_streams,
    prepared,
    qmsum_meeting,
    realtalk_chat,
)


def write_jsonl(path: Path) -> Path:
    path.write_bytes(orjson.dumps(qmsum_meeting()) + b"\n")
    return path


MADE: dict[BenchmarkName, Callable[[Path], object]] = {
    BenchmarkName.LOCOMO: lambda folder: as_json(folder / "a.json", [locomo_sample()]),
    BenchmarkName.BEAM: lambda folder: beam_chat(folder / "1"),
    BenchmarkName.LONGMEMEVAL: lambda folder: as_json(folder / "a.json", [longmemeval_instance()]),
    BenchmarkName.REALTALK: lambda folder: as_json(folder / "a.json", realtalk_chat()),
    BenchmarkName.QMSUM: lambda folder: write_jsonl(folder / "val.jsonl"),
    BenchmarkName.MEMDAILY: lambda folder: as_json(folder / "a.json", memdaily_streams()),
}


def test_every_benchmark_has_a_tiny_file_here() -> None:
    assert set(MADE) == set(BenchmarkName)


@pytest.mark.parametrize("name", MADE)
def test_the_official_files_are_recognised_by_their_content(name: BenchmarkName, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    MADE[name](folder)
    (folder / "README.md").write_text("What this is.")
    assert recognise(folder) == name
    dataset = load_dataset(None, folder)
    assert dataset.name == "mine"
    assert dataset.questions == load_dataset(name, folder).questions


@pytest.mark.parametrize("name", BenchmarkName)
def test_the_prepared_form_serves_every_benchmark(name: BenchmarkName, tmp_path: Path) -> None:
    assert load_dataset(name, prepared(tmp_path)).name == name


def test_a_folder_of_data_sets_gives_each_of_them(tmp_path: Path) -> None:
    prepared(tmp_path / "b")
    beam_chat(tmp_path / "a" / "1")
    (tmp_path / "notes").mkdir()
    assert find_datasets(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert find_datasets(tmp_path / "b") == [tmp_path / "b"]


def test_what_is_no_data_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no data set of a known form"):
        find_datasets(tmp_path)
    with pytest.raises(Invalid, match="nothing at"):
        find_datasets(tmp_path / "missing")
    with pytest.raises(Invalid, match="in no known form"):
        load_dataset(None, as_json(tmp_path / "a.json", {"some": "thing"}))


def test_of_two_files_one_must_be_named(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        as_json(tmp_path / name, [locomo_sample()])
    with pytest.raises(Invalid, match="holds 2 files of this form"):
        load_dataset("locomo", tmp_path)
