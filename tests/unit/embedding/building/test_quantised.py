"""Weights are read back out of a file that onnxruntime turned into bytes, under the names they had before."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from lithify.embedding.building.graph import RowInt8, _quantise
from lithify.embedding.building.quantised import read_quantised_weights
from lithify.errors import Invalid

Floats = npt.NDArray[np.float32]

WORDS = "embeddings.word_embeddings.weight"
LAYER = "encoder.layer.0.output.dense"


@pytest.fixture
def weights() -> dict[str, Floats]:
    random = np.random.default_rng(5)
    drawn = {WORDS: (40, 16), f"{LAYER}.weight": (24, 16), f"{LAYER}.bias": (24,)}
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in drawn.items()}


@pytest.fixture
def quantised(weights: dict[str, Floats], tmp_path: Path) -> Path:
    """A graph as torch exports it: the matrix lies transposed, under a number; then quantised by onnxruntime."""
    nodes = [
        helper.make_node("Gather", [WORDS, "ids"], ["rows"], name="/embeddings/word_embeddings/Gather"),
        helper.make_node(
            "MatMul", ["rows", "onnx::MatMul_7"], ["product"], name="/encoder/layer.0/output/dense/MatMul"
        ),
        helper.make_node("Add", ["product", f"{LAYER}.bias"], ["y"], name="/encoder/layer.0/output/dense/Add"),
    ]
    stored = {
        WORDS: weights[WORDS],
        "onnx::MatMul_7": weights[f"{LAYER}.weight"].T,
        f"{LAYER}.bias": weights[f"{LAYER}.bias"],
    }
    tensors = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in stored.items()]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["tokens"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["tokens", 24])
    model = helper.make_model(
        helper.make_graph(nodes, "graph", [ids], [y], tensors),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    exact = tmp_path / "exact.onnx"
    exact.write_bytes(model.SerializeToString())
    path = tmp_path / "quantised.onnx"
    quantize_dynamic(exact, path, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    return path


def test_every_weight_comes_back_to_half_a_step(weights: dict[str, Floats], quantised: Path) -> None:
    found = read_quantised_weights(quantised)
    assert found.keys() == weights.keys()
    np.testing.assert_array_equal(found[f"{LAYER}.bias"], weights[f"{LAYER}.bias"])
    step = np.abs(weights[f"{LAYER}.weight"]).max(axis=1, keepdims=True) / 64
    assert (np.abs(found[f"{LAYER}.weight"] - weights[f"{LAYER}.weight"]) <= 0.51 * step).all()
    assert np.abs(found[WORDS] - weights[WORDS]).max() < np.ptp(weights[WORDS]) / 255


def test_sixty_four_steps_keep_the_published_numbers(quantised: Path) -> None:
    published = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(quantised).graph.initializer}
    matrix = read_quantised_weights(quantised)[f"{LAYER}.weight"].T
    _, whole = _quantise(matrix, RowInt8(largest_weight=64).largest_weight, axis=0)
    np.testing.assert_array_equal(whole, published["onnx::MatMul_7_quantized"])


def test_a_model_that_is_not_quantised_is_refused(quantised: Path) -> None:
    with pytest.raises(Invalid, match="not the quantised model"):
        read_quantised_weights(quantised.with_name("exact.onnx"))
