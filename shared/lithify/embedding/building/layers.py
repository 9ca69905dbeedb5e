"""The layers that BERT and its descendants share, as graph fragments."""

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from lithify.embedding.building.graph import RUNTIME, GraphBuilder
from lithify.embedding.building.precision import Float, Matrix, Precision

EPSILON = 1e-12  # of the layer norms; both model families were trained with it


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
        """Query, key and value out of one joint product, which is faster than three.

        In float32 in every variant: it is a quarter of the products or less, but as bytes made half of the error.
        """
        return self.graph.nodes("Split", self._dense(Float(), name, x), outputs=3, axis=-1, num_outputs=3)

    def attention(self, query: str, key: str, value: str, heads: int) -> str:
        """softmax(QKᵀ/√d)·V over the unpadded tokens.

        In float32 in every variant: both factors are activations, which bytes serve badly.
        """
        mask = self.graph.node("Cast", "attention_mask", to=onnx.TensorProto.INT32)
        return self.graph.node("MultiHeadAttention", query, key, value, "", mask, domain=RUNTIME, num_heads=heads)

    def mean_pool(self, hidden: str) -> str:
        """The mean of the token vectors whose attention is 1."""
        mask = self.graph.node("Cast", "attention_mask", to=onnx.TensorProto.FLOAT)
        column = self.graph.node("Unsqueeze", mask, self.graph.numbers(2))
        total = self.graph.node("ReduceSum", self.graph.node("Mul", hidden, column), self.graph.numbers(1), keepdims=0)
        return self.graph.node("Div", total, self.graph.node("ReduceSum", column, self.graph.numbers(1), keepdims=0))

    def _dense(self, precision: Precision, name: str, x: str) -> str:
        """x·Wᵀ, plus the bias if the layer has one."""
        product = precision.product(self.graph, name, x, self.weights[f"{name}.weight"].T)
        bias = self.weights.get(f"{name}.bias")
        return product if bias is None else self.graph.node("Add", product, self.graph.constant(f"{name}.bias", bias))


def numbered(weights: Mapping[str, Matrix], stem: str) -> list[str]:
    """The layers `stem0`, `stem1`, … as far as the weights go."""
    numbers = {int(name.removeprefix(stem).split(".")[0]) for name in weights if name.startswith(stem)}
    return [f"{stem}{number}" for number in sorted(numbers)]
