"""Vector spaces are told apart by what makes their vectors, not by where the files lie."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lithify.embedding import load_embedder
from lithify.embedding.vectors import save_rotation
from tests.unit.embedding.tiny_model import TABLE, write_folder


def fingerprint(folder: Path, **manifest: Any) -> str:
    write_folder(folder, **manifest)
    return load_embedder(folder.parent, folder.name, threads=1).fingerprint


def test_moving_or_renaming_files_changes_nothing(tmp_path: Path) -> None:
    here = fingerprint(tmp_path / "one" / "tiny")
    assert fingerprint(tmp_path / "two" / "tiny") == here
    folder = write_folder(tmp_path / "three" / "tiny", model="renamed.onnx", tokenizer="words.json")
    (folder / "model.onnx").rename(folder / "renamed.onnx")
    (folder / "tokenizer.json").rename(folder / "words.json")
    assert load_embedder(folder.parent, "tiny", threads=1).fingerprint == here


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"prefixes": {"document": "red "}},
        {"prefixes": {"query": "red "}},
        {"normalize": False},
        {"addSpecialTokens": False},
        {"maxTokens": 32},
        {"overlap": 4},
        {"tiers": [2, 4, 6]},
        {"table": TABLE * np.float32(2)},
    ],
)
def test_whatever_changes_vectors_changes_the_fingerprint(tmp_path: Path, change: dict[str, Any]) -> None:
    assert fingerprint(tmp_path / "a", **change) != fingerprint(tmp_path / "b")


def test_the_tokenizers_content_counts(tmp_path: Path) -> None:
    before = fingerprint(tmp_path / "tiny")
    path = tmp_path / "tiny" / "tokenizer.json"
    path.write_text(path.read_text().replace('"red": 8, "green": 9', '"red": 9, "green": 8'))
    assert load_embedder(tmp_path, "tiny", threads=1).fingerprint != before


def test_the_rotations_content_counts(tmp_path: Path) -> None:
    found = set()
    for sign in (1, -1):
        folder = write_folder(tmp_path / "tiny", rotation="rotation.npy")
        save_rotation(folder / "rotation.npy", sign * np.eye(6))
        found.add(load_embedder(tmp_path, "tiny", threads=1).fingerprint)
    assert len({*found, fingerprint(tmp_path / "tiny")}) == 3


def test_weights_kept_beside_the_graph_count(tmp_path: Path) -> None:
    before = fingerprint(tmp_path / "tiny")
    (tmp_path / "tiny" / "model.onnx_data").write_bytes(b"weights")
    assert fingerprint(tmp_path / "tiny") != before


def test_spelling_out_a_default_changes_nothing(tmp_path: Path) -> None:
    spelled = fingerprint(tmp_path / "a", normalize=True, outputName="sentence_embedding", tiers=[])
    assert spelled == fingerprint(tmp_path / "b")
