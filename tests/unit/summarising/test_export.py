"""Which files of a folder are taken for the export."""

import json
from pathlib import Path

import pytest

from lithify.errors import Misconfigured
from lithify.summarising.export import CONTEXT, find_export, read_config


def folder_of(folder: Path, *names: str) -> Path:
    for name in (*names, "tokenizer.json"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.mark.parametrize(
    ("names", "encoder", "decoder"),
    [
        (("encoder.onnx", "decoder.onnx"), "encoder.onnx", "decoder.onnx"),
        (
            ("encoder_model.onnx", "decoder_model.onnx", "decoder_model_merged.onnx", "decoder_with_past_model.onnx"),
            "encoder_model.onnx",
            "decoder_model.onnx",
        ),
        (("encoder_model.onnx", "decoder_model_merged.onnx"), "encoder_model.onnx", "decoder_model_merged.onnx"),
        (
            (
                "encoder_model.onnx",
                "decoder_model.onnx",
                "encoder_model_quantized.onnx",
                "decoder_model_quantized.onnx",
            ),
            "encoder_model_quantized.onnx",
            "decoder_model_quantized.onnx",
        ),
        (
            ("encoder_model.onnx", "decoder_model.onnx", "encoder_model_int8.onnx"),
            "encoder_model.onnx",
            "decoder_model.onnx",
        ),
        (
            ("encoder_model_q4.onnx", "decoder_model_q4.onnx", "encoder_model.onnx", "decoder_model.onnx"),
            "encoder_model.onnx",
            "decoder_model.onnx",
        ),
        (
            ("encoder_model_q4.onnx", "decoder_model_merged_q4.onnx"),
            "encoder_model_q4.onnx",
            "decoder_model_merged_q4.onnx",
        ),
        (("onnx/encoder_model.onnx", "onnx/decoder_model.onnx"), "onnx/encoder_model.onnx", "onnx/decoder_model.onnx"),
    ],
)
def test_common_layouts_are_recognised(tmp_path: Path, names: tuple[str, ...], encoder: str, decoder: str) -> None:
    export = find_export(folder_of(tmp_path, *names))
    assert (export.encoder, export.decoder) == (tmp_path / encoder, tmp_path / decoder)
    assert export.tokenizer == tmp_path / "tokenizer.json"


@pytest.mark.parametrize(
    "names",
    [
        (),
        ("encoder_model.onnx",),
        ("decoder_model.onnx",),
        ("encoder_model.onnx", "decoder_with_past_model.onnx"),
        ("encoder_model.onnx", "decoder_model_int8.onnx"),
    ],
)
def test_a_folder_without_a_matching_pair_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    with pytest.raises(Misconfigured, match=r"needs encoder_model\.onnx and decoder_model\.onnx"):
        find_export(folder_of(tmp_path, *names))


def test_a_missing_folder_and_a_missing_tokenizer_are_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no such folder"):
        find_export(tmp_path / "nowhere")
    folder_of(tmp_path, "encoder.onnx", "decoder.onnx")
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(Misconfigured, match=r"tokenizer\.json is missing"):
        find_export(tmp_path)


@pytest.mark.parametrize("name", ["n_positions", "max_position_embeddings"])
def test_the_context_has_the_name_of_its_family(tmp_path: Path, name: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({name: 1024, "eos_token_id": [1, 7], "architectures": ["T5"]}))
    config = read_config(path)
    assert (config.context, config.eos_token_id, config.decoder_start_token_id) == (1024, (1, 7), None)


def test_without_a_config_the_context_is_that_of_t5(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.json").context == CONTEXT == 512


@pytest.mark.parametrize("written", ["{", '{"n_positions": 3}', '{"eos_token_id": "x"}'])
def test_a_config_that_says_the_impossible_is_refused(tmp_path: Path, written: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(written)
    with pytest.raises(Misconfigured, match=r"config\.json"):
        read_config(path)
