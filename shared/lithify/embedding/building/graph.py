"""Writes an ONNX graph node by node, so that an encoder reads like its formulas."""

from collections.abc import Sequence

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

Attribute = int | float | Sequence[int]


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
        """As `node`, for an operator with several outputs."""
        name = f"{operator}.{len(self._nodes)}"
        values = [f"{name}.{i}" for i in range(outputs)]
        node = helper.make_node(operator, inputs, values, name=name, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in sorted(attributes.items()))
        self._nodes.append(node)
        return values

    def encoder(self, embedding: str, dimensions: int) -> onnx.ModelProto:
        """The model that answers token ids with `embedding`, one row per text."""
        inputs = [tensor(name, onnx.TensorProto.INT64, "texts", "tokens") for name in INPUTS]
        return self.model(inputs, embedding, tensor(OUTPUT, onnx.TensorProto.FLOAT, "texts", dimensions))

    def model(self, inputs: Sequence[onnx.ValueInfoProto], value: str, output: onnx.ValueInfoProto) -> onnx.ModelProto:
        nodes = [*self._nodes, helper.make_node("Identity", [value], [output.name], name=output.name)]
        graph = helper.make_graph(nodes, "encoder", inputs, [output], list(self._constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="lithify")


def tensor(name: str, kind: int, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)
