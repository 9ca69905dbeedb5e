"""Byte arithmetic stays close to float32, text by text, and survives its corner cases."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from onnx import TensorProto

from lithify.embedding.building.graph import Float, GraphBuilder, Precision, RowInt8, tensor

Floats = npt.NDArray[np.float32]
RANDOM = np.random.default_rng(11)
WEIGHT = RANDOM.standard_normal((64, 48)).astype(np.float32)


def run(precision: Precision, x: Floats, weight: npt.NDArray[np.floating]) -> Floats:
    graph = GraphBuilder()
    return evaluated(graph, precision.product(graph, "w", "x", weight), "x", x)


def picked(precision: Precision, ids: npt.NDArray[np.int64], table: npt.NDArray[np.floating]) -> Floats:
    graph = GraphBuilder()
    return evaluated(graph, precision.rows(graph, "t", table, "ids"), "ids", ids)


def evaluated(graph: GraphBuilder, value: str, name: str, array: npt.NDArray[np.generic]) -> Floats:
    kind = TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT
    model = graph.model([tensor(name, kind, *array.shape)], value, tensor("result", TensorProto.FLOAT, "a", "b", "c"))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {name: array})[0], np.float32)


def cosine(a: Floats, b: Floats) -> float:
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def tokens(scale: float = 1.0) -> Floats:
    return (RANDOM.standard_normal((3, 5, 64)) * scale).astype(np.float32)


def test_half_precision_weights_are_computed_with_in_float32() -> None:
    half = WEIGHT.astype(np.float16)
    x = tokens()
    np.testing.assert_allclose(run(Float(), x, half), x @ half.astype(np.float32), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_byte_products_agree_with_float_products(scale: float) -> None:
    x = tokens(scale)
    assert cosine(run(RowInt8(), x, WEIGHT), x @ WEIGHT) > 0.999


def test_the_largest_products_do_not_saturate() -> None:
    x, weight = np.full((1, 1, 64), 3.0, np.float32), np.full((64, 8), -2.0, np.float32)
    np.testing.assert_allclose(run(RowInt8(), x, weight), x @ weight, rtol=1e-3)


def test_a_tokens_product_does_not_depend_on_its_neighbours() -> None:
    x = tokens()
    loud = np.concatenate([x, tokens(1e4)])
    np.testing.assert_array_equal(run(RowInt8(), loud, WEIGHT)[:3], run(RowInt8(), x, WEIGHT))


@pytest.mark.parametrize("make", [lambda: (np.zeros((1, 2, 64), np.float32), WEIGHT), lambda: (tokens(), WEIGHT * 0)])
def test_zeros_give_zeros(make: Callable[[], tuple[Floats, Floats]]) -> None:
    x, weight = make()
    np.testing.assert_array_equal(run(RowInt8(), x, weight), np.zeros((*x.shape[:2], 48)))


def test_table_rows_come_back_within_half_a_step() -> None:
    table = np.vstack([WEIGHT, np.zeros((1, 48), np.float32), WEIGHT[:1] * 1000])
    ids = np.array([[0, 64, 65], [3, 1, 2]])
    step = np.abs(table[ids]).max(axis=-1, keepdims=True) / 127
    assert (np.abs(picked(RowInt8(), ids, table) - table[ids]) <= step / 2 + 1e-6).all()
    np.testing.assert_array_equal(picked(Float(), ids, table), table[ids])
