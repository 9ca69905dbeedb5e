"""How the big matrices of an encoder are stored and multiplied: the difference between its variants."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx

from lithify.embedding.building.graph import RUNTIME, GraphBuilder

Matrix = npt.NDArray[np.floating[Any]]

# Seven bits: processors without VNNI add two byte products in 16 bits, and 2 · 255 · 63 just fits, while eight bits
# can saturate. It costs nomic .0006 of cosine; unsigned bytes would be as safe but took a sixth more time.
LARGEST_WEIGHT = 63
# Activations and table rows are bytes around this zero point.
ZERO_POINT = 128
LARGEST_BYTE = 127
TINY = 1e-12  # added to scales, so that a row of zeros is not divided by zero


class Precision(Protocol):
    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        """The rows `ids` of an embedding table, as float32."""

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        """x · weight, where weight is (inputs, outputs), as float32."""


class Float:
    """Computes in float32; the file keeps the type the weights came in.

    Half-precision weights are widened when the model is loaded, so they save space on disk but not in memory.
    """

    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        return graph.node("Gather", self._widened(graph, name, table), ids)

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        return graph.node("MatMul", x, self._widened(graph, name, weight))

    def _widened(self, graph: GraphBuilder, name: str, weight: Matrix) -> str:
        stored = graph.constant(name, weight)
        return stored if weight.dtype == np.float32 else graph.node("Cast", stored, to=onnx.TensorProto.FLOAT)


class RowInt8:
    """Multiplies bytes: weights scaled per output, activations per token.

    A scale per token instead of one per batch keeps a text's vector the same whatever texts it is computed
    with, and is more exact: the scale of a batch is set by its one largest activation.
    """

    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        scales, whole = _quantised(table, LARGEST_BYTE, axis=1)
        stored = graph.constant(f"{name}.bytes", (whole + ZERO_POINT).astype(np.uint8))
        picked = graph.node("Cast", graph.node("Gather", stored, ids), to=onnx.TensorProto.FLOAT)
        centred = graph.node("Sub", picked, graph.scalar(ZERO_POINT))
        return graph.node("Mul", centred, graph.node("Gather", graph.constant(f"{name}.scales", scales), ids))

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        scales, whole = _quantised(weight, LARGEST_WEIGHT, axis=0)
        w, w_scales = (
            graph.constant(f"{name}.bytes", whole.astype(np.int8)),
            graph.constant(f"{name}.scales", scales[0]),
        )
        one, zero = graph.scalar(1.0), graph.constant("zero_point", np.uint8(ZERO_POINT))
        token_scale = self._token_scale(graph, x)
        x_bytes = graph.node("QuantizeLinear", graph.node("Div", x, token_scale), one, zero)
        product = graph.node("MatMulIntegerToFloat", x_bytes, w, one, w_scales, zero, domain=RUNTIME)
        return graph.node("Mul", product, token_scale)

    def _token_scale(self, graph: GraphBuilder, x: str) -> str:
        largest = graph.node("ReduceMax", graph.node("Abs", x), graph.numbers(-1), keepdims=1)
        return graph.node("Add", graph.node("Mul", largest, graph.scalar(1 / LARGEST_BYTE)), graph.scalar(TINY))


def _quantised(weight: Matrix, largest: int, axis: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Scales along `axis`, and the whole numbers from -largest to largest they stretch to the weights."""
    exact = weight.astype(np.float32)
    scales = np.abs(exact).max(axis=axis, keepdims=True) / np.float32(largest) + np.float32(TINY)
    return scales, np.rint(exact / scales)
