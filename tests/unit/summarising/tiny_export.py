"""A T5-style export small enough to decode by hand: a table says which word follows which, the input tilts it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Floats = npt.NDArray[np.float32]

WORDS = ("<pad>", "</s>", "<unk>", "summarize", ":", "ships", "sail", "far", "storms", "break", "masts")
PAD, END = 0, 1
SIZE = len(WORDS)


def follows(*pairs: tuple[str, str], weight: float = 4.0) -> Floats:
    table = np.zeros((SIZE, SIZE), np.float32)
    for before, after in pairs:
        table[WORDS.index(before), WORDS.index(after)] = weight
    return table


# What follows which, and which first word an input word speaks for.
CHAIN = follows(("ships", "sail"), ("sail", "far"), ("far", "</s>"), ("storms", "break"), ("break", "</s>"))
TILT = follows(("ships", "ships"), ("storms", "storms"), weight=2.0)


def logits_after(written: str, inputs: list[str]) -> Floats:
    """What the export has to answer for the token that follows `written`."""
    tilt = TILT[[WORDS.index(word) for word in inputs]].mean(axis=0)
    scores: Floats = CHAIN[WORDS.index(written)] + tilt
    return scores


def write_export(folder: Path, *, merged: bool = False, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    decoder = "decoder_model_merged.onnx" if merged else "decoder_model.onnx"
    (folder / "encoder_model.onnx").write_bytes(encoder(TILT).SerializeToString())
    (folder / decoder).write_bytes(decoder_graph(merged=merged).SerializeToString())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    if config:
        (folder / "config.json").write_text(json.dumps(config))
    return folder


def encoder(table: Floats) -> onnx.ModelProto:
    """The hidden state of a word is its row of the table."""
    return model(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        [ids("input_ids"), ids("attention_mask")],
        floats("last_hidden_state", ["batch", "source", table.shape[1]]),
        {"table": table},
    )


def decoder_graph(*, merged: bool) -> onnx.ModelProto:
    """The row of the written word plus the mean hidden state; a merged one turns the sign where a cache is claimed."""
    scores = "sum" if merged else "logits"
    nodes = [
        helper.make_node("Gather", ["chain", "input_ids"], ["rows"]),
        helper.make_node("ReduceMean", ["encoder_hidden_states"], ["tilt"], axes=[1], keepdims=1),
        helper.make_node("Add", ["rows", "tilt"], [scores]),
    ]
    inputs = [
        ids("input_ids"),
        floats("encoder_hidden_states", ["batch", "source", SIZE]),
        ids("encoder_attention_mask"),
    ]
    return model(
        [*nodes, *(cached_branch() if merged else [])],
        [*inputs, *(cache_inputs() if merged else [])],
        floats("logits", ["batch", "target", SIZE]),
        {"chain": CHAIN},
    )


def cache_inputs() -> list[onnx.ValueInfoProto]:
    return [
        floats("past_key_values.0.decoder.key", ["batch", 2, "past", 4]),
        helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1]),
    ]


def cached_branch() -> list[onnx.NodeProto]:
    return [
        helper.make_node("Neg", ["sum"], ["wrong"]),
        helper.make_node("Where", ["use_cache_branch", "wrong", "sum"], ["chosen"]),
        helper.make_node("ReduceSum", ["past_key_values.0.decoder.key"], ["past"], keepdims=0),
        helper.make_node("Add", ["chosen", "past"], ["logits"]),
    ]


def model(
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    output: onnx.ValueInfoProto,
    weights: dict[str, Floats],
) -> onnx.ModelProto:
    initial = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initial)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def ids(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])


def floats(name: str, shape: list[str | int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def tokenizer() -> dict[str, Any]:
    """Splits at blanks, ends every text with `</s>`, and cuts at three tokens as the exports of small tasks do."""
    special = [{"id": PAD, "content": "<pad>"}, {"id": END, "content": "</s>"}]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": None,
        "added_tokens": [token | flags for token in special],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [END], "tokens": ["</s>"]}},
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}, "unk_token": "<unk>"},
    }
