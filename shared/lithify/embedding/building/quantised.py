"""Reads the weights out of an ONNX file that onnxruntime's dynamic quantisation has turned into bytes.

Its graph scales activations by the largest of a whole batch, so a text's vector depends on its neighbours there. Only
the weights are taken, under the names they had before, for a graph of our own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from lithify.embedding.building.graph import Matrix
from lithify.errors import Invalid

BYTES = "_quantized"
SCALE = "_scale"
ZERO = "_zero_point"
PRODUCT = "MatMulInteger"
PRODUCT_NAME = "/MatMul_quant"

Arrays = Mapping[str, npt.NDArray[Any]]


def read_quantised_weights(path: Path) -> dict[str, Matrix]:
    """Returns the weights of a file as float32, matrices of linear layers as (outputs, inputs).

    The caller has checked that the file is the expected one. Raises Invalid for a model that is not quantised.
    """
    graph = onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    products = {node.input[1]: _layer_name(node.name) for node in graph.node if node.op_type == PRODUCT}
    if not products:
        raise Invalid(f"{path} has no product of bytes: it is not the quantised model")
    weights = {name: array for name, array in stored.items() if array.dtype == np.float32 and not name.endswith(SCALE)}
    for name in (name for name in stored if name.endswith(BYTES)):
        exact = _dequantise(stored, name.removesuffix(BYTES))
        layer = products.get(name)
        weights |= {name.removesuffix(BYTES): exact} if layer is None else {f"{layer}.weight": exact.T}
    return weights


def _dequantise(stored: Arrays, name: str) -> npt.NDArray[np.float32]:
    """Returns (bytes − zero point) · scale; both are one number, or one of each column."""
    whole = stored[name + BYTES].astype(np.float32) - stored[name + ZERO].astype(np.float32)
    exact: npt.NDArray[np.float32] = whole * stored[name + SCALE].astype(np.float32)
    return exact


def _layer_name(node: str) -> str:
    """Returns `encoder.layer.0.output.dense` for the node `/encoder/layer.0/output/dense/MatMul_quant`."""
    return node.removeprefix("/").removesuffix(PRODUCT_NAME).replace("/", ".")
