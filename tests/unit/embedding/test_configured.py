"""A model that is missing or broken is refused at load, with words that help."""

import os
from pathlib import Path

import numpy as np
import pytest

from lithify.embedding import HashEmbedder, load_configured_embedder, load_embedder
from lithify.errors import Misconfigured
from lithify.settings import Settings
from tests.unit.embedding.tiny_model import TABLE, write_folder


def load(models_dir: Path, profile: str = "tiny", variant: str = "int8") -> None:
    load_embedder(models_dir, profile, variant=variant, threads=1)


@pytest.mark.parametrize(
    ("profile", "hint"),
    [
        ("snowflake-arctic-embed-s", "run `lithify models build`"),
        ("all-minilm-l6-v2", "run `lithify models build --profile all-minilm-l6-v2`"),
        ("light", "run `lithify models build --profile all-minilm-l6-v2`"),
        (
            "nomic-embed-text-v1.5",
            "run `lithify models pull --profile nomic-embed-text-v1.5` or `lithify models import FILE.gguf`",
        ),
        ("my-own", "put a model with its embedding.json there"),
    ],
)
def test_a_missing_model_says_what_to_run(tmp_path: Path, profile: str, hint: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        load(tmp_path, profile)
    assert hint in str(refusal.value)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_one_of_its_files_is_refused(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path / "tiny") / name).unlink()
    with pytest.raises(Misconfigured, match=f"lacks {name}"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("name", "complaint"), [("model.onnx", "cannot be loaded as an ONNX model"), ("tokenizer.json", "cannot be read")]
)
def test_a_broken_file_is_refused(tmp_path: Path, name: str, complaint: str) -> None:
    (write_folder(tmp_path / "tiny") / name).write_bytes(b"not what it should be")
    with pytest.raises(Misconfigured, match=complaint):
        load(tmp_path)


def test_a_model_cut_short_is_refused(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "tiny") / "model.onnx"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(Misconfigured, match="cannot be loaded as an ONNX model"):
        load(tmp_path)


def test_a_dimension_that_contradicts_the_model_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", dimensions=8)
    with pytest.raises(Misconfigured, match="vectors of 6 components; the manifest says 8"):
        load(tmp_path)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_model_without_meaningful_vectors_is_refused(tmp_path: Path, value: float) -> None:
    write_folder(tmp_path / "tiny", table=np.full_like(TABLE, value))
    with pytest.raises(Misconfigured, match="empty or not finite"):
        load(tmp_path)


def test_an_unknown_output_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", outputName="pooler_output")
    with pytest.raises(Misconfigured, match="no output 'pooler_output'; it has sentence_embedding"):
        load(tmp_path)


def test_an_input_nobody_fills_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", inputs=("input_ids", "attention_mask", "image"))
    with pytest.raises(Misconfigured, match="asks for image, which inputNames does not list"):
        load(tmp_path)


def test_pooling_has_to_fit_the_output(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", pooling="mean")
    with pytest.raises(Misconfigured, match="has 2 axes; leave the pooling out"):
        load(tmp_path)
    write_folder(tmp_path / "tokens", output="last_hidden_state", outputName="last_hidden_state")
    load(tmp_path, "tokens")


def test_a_folder_of_variants_has_those_and_no_others(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", variants={"fp32": "model.onnx"})
    assert load_embedder(tmp_path, "tiny", variant="fp32", threads=1).manifest.variant == "fp32"
    with pytest.raises(Misconfigured, match="no variant 'int8'; it has fp32"):
        load(tmp_path)


def test_a_single_model_serves_whatever_variant_the_settings_ask_for(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny")
    assert load_embedder(tmp_path, "tiny", variant="int8", threads=1).manifest.variant is None


def test_the_hash_profile_needs_no_model_and_has_the_default_profiles_shape(tmp_path: Path) -> None:
    embedder = load_embedder(tmp_path, "hash", threads=1)
    assert isinstance(embedder, HashEmbedder)
    assert (embedder.manifest.dimensions, embedder.manifest.tiers) == (384, (64, 128, 384))


def test_the_settings_decide_what_is_loaded(tmp_path: Path) -> None:
    write_folder(tmp_path / "tiny", variants={"fp32": "model.onnx"})
    settings = Settings(models_dir=tmp_path, embedding_profile="tiny", embedding_variant="fp32")
    assert load_configured_embedder(settings, threads=1).manifest.variant == "fp32"


def test_no_configured_threads_mean_one_per_core() -> None:
    assert Settings(embedding_threads=3).threads == 3
    assert Settings(embedding_threads=0).threads == (os.cpu_count() or 1)
