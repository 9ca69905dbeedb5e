"""Writes an ONNX graph node by node, so that an encoder reads like its formulas.

Variants of a model differ in how its big matrices are stored and multiplied: their precision. The layers are those
that BERT and its descendants share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "sentence_embedding"
# The first opset with Gelu; everything newer than it is taken from onnxruntime's own operators.
OPSET = 20
IR_VERSION = 10
RUNTIME = "com.microsoft"

EPSILON = 1e-12  # of the layer norms; both model families were trained with it

Attribute = int | float | Sequence[int]
Matrix = npt.NDArray[np.floating[Any]]

# Seven bits: processors without VNNI add two byte products in 16 bits, and 2 · 255 · 64 just fits, while eight bits
# can saturate. It costs nomic .0006 of cosine; unsigned bytes would be as safe but took a sixth more time.
LARGEST_WEIGHT = 63
# Activations and table rows are bytes around this zero point.
ZERO_POINT = 128
LARGEST_BYTE = 127
TINY = 1e-12  # added to scales, so that a row of zeros is not divided by zero


class GraphBuilder:
    """Collects nodes and constants; a value is the name of a node's output."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, array: npt.ArrayLike) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def scalar(self, number: float) -> str:
        return self.constant(f"scalar.{number!r}", np.float32(number))

    def numbers(self, *values: int) -> str:
        return self.constant(f"numbers.{values}", np.array(values, dtype=np.int64))

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        return self.nodes(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes(self, operator: str, *inputs: str, outputs: int, domain: str = "", **attributes: Attribute) -> list[str]:
        """Adds an operator with several outputs, as `node` does one with a single output."""
        name = f"{operator}.{len(self._nodes)}"
        values = [f"{name}.{i}" for i in range(outputs)]
        node = helper.make_node(operator, inputs, values, name=name, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in sorted(attributes.items()))
        self._nodes.append(node)
        return values

    def encoder(self, embedding: str, dimensions: int) -> onnx.ModelProto:
        """Returns the model that answers token ids with `embedding`, one row per text."""
        inputs = [tensor(name, onnx.TensorProto.INT64, "texts", "tokens") for name in INPUTS]
        return self.model(inputs, embedding, tensor(OUTPUT, onnx.TensorProto.FLOAT, "texts", dimensions))

    def model(self, inputs: Sequence[onnx.ValueInfoProto], value: str, output: onnx.ValueInfoProto) -> onnx.ModelProto:
        nodes = [*self._nodes, helper.make_node("Identity", [value], [output.name], name=output.name)]
        graph = helper.make_graph(nodes, "encoder", inputs, [output], list(self._constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="lithify")


def tensor(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


class Precision(Protocol):
    """Stores and multiplies the big matrices of an encoder."""

    @property
    def exact_projections(self) -> bool:
        """True if the projections to query, key and value are computed in float32 all the same."""

    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        """Returns the rows `ids` of an embedding table, as float32."""

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        """Returns x · weight, where weight is (inputs, outputs), as float32."""


class Float:
    """Computes in float32; the file keeps the type the weights came in.

    Half-precision weights are widened when the model is loaded, so they save space on disk but not in memory.
    """

    exact_projections = True

    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        return graph.node("Gather", self._widen(graph, name, table), ids)

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        return graph.node("MatMul", x, self._widen(graph, name, weight))

    def _widen(self, graph: GraphBuilder, name: str, weight: Matrix) -> str:
        stored = graph.constant(name, weight)
        return stored if weight.dtype == np.float32 else graph.node("Cast", stored, to=onnx.TensorProto.FLOAT)


@dataclass(frozen=True, slots=True)
class RowInt8:
    """Multiplies bytes: weights scaled per output, activations per token.

    A scale per token instead of one per batch keeps a text's vector the same whatever texts it is computed
    with, and is more exact: the scale of a batch is set by its one largest activation.
    """

    largest_weight: int = LARGEST_WEIGHT
    exact_projections: bool = True

    def rows(self, graph: GraphBuilder, name: str, table: Matrix, ids: str) -> str:
        scales, whole = _quantise(table, LARGEST_BYTE, axis=1)
        stored = graph.constant(f"{name}.bytes", (whole + ZERO_POINT).astype(np.uint8))
        picked = graph.node("Cast", graph.node("Gather", stored, ids), to=onnx.TensorProto.FLOAT)
        centred = graph.node("Sub", picked, graph.scalar(ZERO_POINT))
        return graph.node("Mul", centred, graph.node("Gather", graph.constant(f"{name}.scales", scales), ids))

    def product(self, graph: GraphBuilder, name: str, x: str, weight: Matrix) -> str:
        scales, whole = _quantise(weight, self.largest_weight, axis=0)
        w = graph.constant(f"{name}.bytes", whole.astype(np.int8))
        w_scales = graph.constant(f"{name}.scales", scales[0])
        one = graph.scalar(1.0)
        zero = graph.constant("zero_point", np.uint8(ZERO_POINT))
        token_scale = self._token_scale(graph, x)
        x_bytes = graph.node("QuantizeLinear", graph.node("Div", x, token_scale), one, zero)
        product = graph.node("MatMulIntegerToFloat", x_bytes, w, one, w_scales, zero, domain=RUNTIME)
        return graph.node("Mul", product, token_scale)

    def _token_scale(self, graph: GraphBuilder, x: str) -> str:
        largest = graph.node("ReduceMax", graph.node("Abs", x), graph.numbers(-1), keepdims=1)
        return graph.node("Add", graph.node("Mul", largest, graph.scalar(1 / LARGEST_BYTE)), graph.scalar(TINY))


def _quantise(weight: Matrix, largest: int, axis: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Returns scales along `axis`, and the whole numbers from -largest to largest they stretch to the weights."""
    exact = weight.astype(np.float32)
    scales = np.abs(exact).max(axis=axis, keepdims=True) / np.float32(largest) + np.float32(TINY)
    return scales, np.rint(exact / scales)


@dataclass(frozen=True, slots=True)
class Layers:
    """Adds layers to a graph by the names of their weights; a value is the name of a node's output."""

    graph: GraphBuilder
    weights: Mapping[str, Matrix]
    precision: Precision

    def rows(self, name: str, ids: str) -> str:
        return self.precision.rows(self.graph, name, self.weights[name], ids)

    def norm(self, name: str, x: str) -> str:
        gain = self.graph.constant(f"{name}.weight", self.weights[f"{name}.weight"])
        offset = self.graph.constant(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.graph.node("LayerNormalization", x, gain, offset, axis=-1, epsilon=EPSILON)

    def residual_norm(self, name: str, x: str, change: str) -> str:
        return self.norm(name, self.graph.node("Add", x, change))

    def dense(self, name: str, x: str) -> str:
        return self._dense(self.precision, name, x)

    def projections(self, name: str, x: str) -> list[str]:
        """Returns query, key and value out of one joint product, which is faster than three.

        It is float32 where the precision wants that: a quarter of the products or less, but as bytes half of the error.
        """
        precision = Float() if self.precision.exact_projections else self.precision
        return self.graph.nodes("Split", self._dense(precision, name, x), outputs=3, axis=-1, num_outputs=3)

    def attention(self, query: str, key: str, value: str, heads: int) -> str:
        """Returns softmax(QKᵀ/√d)·V over the unpadded tokens.

        It is float32 in every variant: both factors are activations, which bytes serve badly.
        """
        mask = self.graph.node("Cast", "attention_mask", to=onnx.TensorProto.INT32)
        return self.graph.node("MultiHeadAttention", query, key, value, "", mask, domain=RUNTIME, num_heads=heads)

    def mean_pool(self, hidden: str) -> str:
        """Returns the mean of the token vectors whose attention is 1."""
        mask = self.graph.node("Cast", "attention_mask", to=onnx.TensorProto.FLOAT)
        column = self.graph.node("Unsqueeze", mask, self.graph.numbers(2))
        total = self.graph.node("ReduceSum", self.graph.node("Mul", hidden, column), self.graph.numbers(1), keepdims=0)
        return self.graph.node("Div", total, self.graph.node("ReduceSum", column, self.graph.numbers(1), keepdims=0))

    def _dense(self, precision: Precision, name: str, x: str) -> str:
        """Returns x·Wᵀ, plus the bias if the layer has one."""
        product = precision.product(self.graph, name, x, self.weights[f"{name}.weight"].T)
        bias = self.weights.get(f"{name}.bias")
        return product if bias is None else self.graph.node("Add", product, self.graph.constant(f"{name}.bias", bias))


def layer_names(weights: Mapping[str, Matrix], stem: str) -> list[str]:
    """Returns the layers `stem0`, `stem1`, … as far as the weights go."""
    numbers = {int(name.removeprefix(stem).split(".")[0]) for name in weights if name.startswith(stem)}
    return [f"{stem}{number}" for number in sorted(numbers)]
