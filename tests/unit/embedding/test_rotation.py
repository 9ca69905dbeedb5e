"""A rotation concentrates what vectors differ in and changes no cosine."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from lithify.embedding.manifest import profile_assets
from lithify.embedding.vectors import fit_rotation, load_rotation, save_rotation
from lithify.errors import Misconfigured


def cloud(count: int = 500) -> npt.NDArray[np.float64]:
    """Vectors that differ mostly in a few directions that no single component shows."""
    random = np.random.default_rng(5)
    axes = np.linalg.qr(random.standard_normal((32, 32)))[0]
    spread = random.standard_normal((count, 32)) * np.geomspace(1.0, 0.01, 32)
    return np.asarray(spread @ axes + random.standard_normal(32), np.float64)


def cosines(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T, np.float64)


def test_full_length_cosines_survive_storage_in_half_precision(tmp_path: Path) -> None:
    vectors = cloud()
    save_rotation(tmp_path / "r.npy", fit_rotation(vectors))
    rotation = load_rotation(tmp_path / "r.npy", 32)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(32), atol=1e-6)
    np.testing.assert_allclose(cosines(vectors @ rotation), cosines(vectors), atol=1e-5)


def test_the_front_components_carry_most_of_the_variation() -> None:
    vectors = cloud()
    variance = (vectors @ fit_rotation(vectors)).var(axis=0)
    assert list(variance) == sorted(variance, reverse=True)
    assert variance[:8].sum() > 0.9 * variance.sum()
    assert vectors.var(axis=0)[:8].sum() < 0.5 * variance.sum()


def test_axes_have_a_fixed_direction() -> None:
    vectors = cloud()
    np.testing.assert_allclose(fit_rotation(-vectors), fit_rotation(vectors), atol=1e-9)


def test_a_matrix_of_another_size_is_refused(tmp_path: Path) -> None:
    save_rotation(tmp_path / "r.npy", np.eye(16))
    with pytest.raises(Misconfigured, match=r"has shape \(16, 16\); the model has 32 dimensions"):
        load_rotation(tmp_path / "r.npy", 32)


@pytest.mark.parametrize("matrix", [np.zeros((32, 32)), np.eye(32) * 1.1, np.full((32, 32), np.nan)])
def test_a_matrix_that_would_change_cosines_is_refused(tmp_path: Path, matrix: npt.NDArray[np.float64]) -> None:
    save_rotation(tmp_path / "r.npy", matrix)
    with pytest.raises(Misconfigured, match="is not orthogonal"):
        load_rotation(tmp_path / "r.npy", 32)


@pytest.mark.parametrize("content", [None, b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_a_missing_or_broken_file_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "r.npy").write_bytes(content)
    with pytest.raises(Misconfigured, match="cannot be read"):
        load_rotation(tmp_path / "r.npy", 32)


def test_the_shipped_rotation_is_orthogonal() -> None:
    rotation = load_rotation(profile_assets("all-minilm-l6-v2") / "rotation.npy", 384)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(384), atol=1e-6)
