"""A model folder small enough to compute by hand: every word has a fixed vector, a text is their mean."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "search_document",
    "search_query",
    ":",
    "x",
    "red",
    "green",
    "blue",
    "beyond",
)
DIMENSIONS = 6
# The last word has no vector: the model fails on it, as a real one fails on a token outside its table.
TABLE = np.random.default_rng(3).standard_normal((len(WORDS) - 1, DIMENSIONS)).astype(np.float32)

Floats = npt.NDArray[np.float64]


def write_folder(
    folder: Path,
    *,
    output: str = "sentence_embedding",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    table: npt.NDArray[np.float32] = TABLE,
    **manifest: Any,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model(output, inputs, table).SerializeToString())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    written = {"name": "tiny", "model": "model.onnx", "dimensions": DIMENSIONS, "maxTokens": 16, **manifest}
    (folder / "embedding.json").write_text(json.dumps(written))
    return folder


def mean_of(*words: str) -> Floats:
    """The unit vector the tiny model has to answer with for these tokens."""
    mean = TABLE[[WORDS.index(word) for word in words]].astype(np.float64).mean(axis=0)
    unit: Floats = mean / np.linalg.norm(mean)
    return unit


def model(output: str, inputs: tuple[str, ...], table: npt.NDArray[np.float32]) -> onnx.ModelProto:
    """Answers with the words' vectors (`last_hidden_state`) or with their mean (any other name)."""
    ids, mask = inputs[:2]
    hidden = [helper.make_node("Gather", ["table", ids], ["hidden"])]
    mean = [
        helper.make_node("Cast", [mask], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "two"], ["column"]),
        helper.make_node("Mul", ["hidden", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "one"], ["total"], keepdims=0),
        helper.make_node("ReduceSum", ["column", "one"], ["count"], keepdims=0),
        helper.make_node("Div", ["total", "count"], [output]),
    ]
    tokens = output == "last_hidden_state"
    nodes = [*hidden, helper.make_node("Identity", ["hidden"], [output])] if tokens else [*hidden, *mean]
    shape = ["texts", "tokens", table.shape[1]] if tokens else ["texts", table.shape[1]]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([1]), "one"),
            numpy_helper.from_array(np.array([2]), "two"),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def tokenizer() -> dict[str, Any]:
    """Splits at blanks, and cuts and pads at four tokens as careless exports do."""
    special = {name: {"id": name, "ids": [WORDS.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    return {
        "version": "1.0",
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 4},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
    }
