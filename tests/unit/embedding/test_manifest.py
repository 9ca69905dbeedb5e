"""`embedding.json` is read strictly: what is not understood is refused, not ignored."""

import json
from pathlib import Path
from typing import Any

import pytest

from lithify.embedding import manifest as manifests
from lithify.embedding.manifest import Manifest, profile_assets, read_manifest, shipped_profiles
from lithify.errors import Misconfigured


def read(folder: Path, **changes: Any) -> Manifest:
    least = {"name": "mine", "model": "model.onnx", "dimensions": 8, "maxTokens": 128}
    (folder / "embedding.json").write_text(json.dumps({**least, **changes}))
    return read_manifest(folder)


def test_defaults_are_those_of_common_exports(tmp_path: Path) -> None:
    manifest = read(tmp_path)
    assert manifest.input_names == ("input_ids", "attention_mask", "token_type_ids")
    assert manifest.output_name == "sentence_embedding"
    assert manifest.tokenizer == "tokenizer.json"
    assert manifest.add_special_tokens
    assert manifest.normalize
    assert manifest.pooling is None
    assert manifest.tiers == ()
    assert manifest.family == "mine"


@pytest.mark.parametrize(("limit", "window", "overlap"), [(128, 128, 64), (512, 512, 256), (8192, 512, 256)])
def test_windows_are_512_tokens_or_the_limit_and_overlap_by_half(
    tmp_path: Path, limit: int, window: int, overlap: int
) -> None:
    manifest = read(tmp_path, maxTokens=limit)
    assert (manifest.window, manifest.overlap) == (window, overlap)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"dimensions": 0}, "dimensions"),
        ({"dimensions": None}, "dimensions"),
        ({"maxTokens": "many"}, "maxTokens"),
        ({"pooling": "max"}, "pooling"),
        ({"inputNames": []}, "inputNames"),
        ({"name": "two words"}, "name"),
        ({"model": "/etc/passwd"}, "must name a file inside the model folder"),
        ({"tokenizer": "../tokenizer.json"}, "must name a file inside the model folder"),
        ({"window": 256}, "window 256 is larger than maxTokens 128"),
        ({"overlap": 65}, "overlap 65 is more than half the window 128"),
        ({"tiers": [2, 8]}, "must be three growing prefix lengths"),
        ({"tiers": [4, 2, 8]}, "must be three growing prefix lengths"),
        ({"tiers": [2, 4, 6]}, "the last tier 6 must be all 8 dimensions"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        read(tmp_path, **changes)
    assert complaint in str(refusal.value)
    assert "embedding.json" in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_what_is_no_manifest_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "embedding.json").write_bytes(content)
    with pytest.raises(Misconfigured, match=r"embedding\.json"):
        read_manifest(tmp_path)


def test_shipped_profiles_are_the_three_of_the_design() -> None:
    assert shipped_profiles() == ["all-minilm-l6-v2", "nomic-embed-text-v1.5", "snowflake-arctic-embed-s"]
    minilm, nomic, arctic = (read_manifest(profile_assets(name)) for name in shipped_profiles())
    assert (minilm.dimensions, minilm.tiers, minilm.window) == (384, (64, 128, 384), 128)
    assert (nomic.dimensions, nomic.tiers, nomic.window) == (768, (64, 256, 768), 512)
    assert (arctic.dimensions, arctic.tiers, arctic.window) == (384, (64, 128, 384), 512)
    assert {"fp32", "int8"} == set(minilm.variants) == set(nomic.variants) == set(arctic.variants)


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Misconfigured, match=r"it has all-minilm-l6-v2, nomic-embed-text-v1\.5"):
        profile_assets("gpt")


def test_an_installed_package_finds_the_profiles_beside_its_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    read(tmp_path / "mine")
    monkeypatch.setattr(manifests, "_INSTALLED", tmp_path)
    assert shipped_profiles() == ["mine"]
    assert profile_assets("mine") == tmp_path / "mine"
