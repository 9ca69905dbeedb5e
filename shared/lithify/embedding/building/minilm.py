"""The graph of all-MiniLM-L6-v2, a six-layer BERT, from its safetensors weights."""

from collections.abc import Mapping
from itertools import product

import numpy as np
import onnx

from lithify.embedding.building.graph import GraphBuilder, Layers, Matrix, Precision, layer_names

HEAD_WIDTH = 32
STEM = "encoder.layer."
WORDS = "embeddings.word_embeddings.weight"


def minilm_graph(weights: Mapping[str, Matrix], precision: Precision) -> onnx.ModelProto:
    layers = Layers(GraphBuilder(), _add_joint_projections(weights), precision)
    hidden = _embeddings(layers)
    for name in layer_names(weights, STEM):
        hidden = _layer(layers, name, hidden)
    return layers.graph.encoder(layers.mean_pool(hidden), weights[WORDS].shape[1])


def _add_joint_projections(weights: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """Adds the joint projection to query, key and value of each layer."""
    joint = {}
    for name, kind in product(layer_names(weights, STEM), ("weight", "bias")):
        parts = [weights[f"{name}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        joint[f"{name}.attention.self.{kind}"] = np.concatenate(parts)
    return {**weights, **joint}


def _embeddings(layers: Layers) -> str:
    graph = layers.graph
    weights = layers.weights
    words = layers.rows(WORDS, "input_ids")
    places = graph.constant("places", weights["embeddings.position_embeddings.weight"])
    length = graph.node("Shape", "input_ids", start=1, end=2)
    place = graph.node("Slice", places, graph.numbers(0), length, graph.numbers(0))
    kinds = graph.constant("kinds", weights["embeddings.token_type_embeddings.weight"])
    kind = graph.node("Gather", kinds, "token_type_ids")
    return layers.residual_norm("embeddings.LayerNorm", graph.node("Add", words, place), kind)


def _layer(layers: Layers, name: str, x: str) -> str:
    query, key, value = layers.projections(f"{name}.attention.self", x)
    mixed = layers.attention(query, key, value, layers.weights[WORDS].shape[1] // HEAD_WIDTH)
    attended = layers.dense(f"{name}.attention.output.dense", mixed)
    x = layers.residual_norm(f"{name}.attention.output.LayerNorm", x, attended)
    inner = layers.graph.node("Gelu", layers.dense(f"{name}.intermediate.dense", x))
    return layers.residual_norm(f"{name}.output.LayerNorm", x, layers.dense(f"{name}.output.dense", inner))
