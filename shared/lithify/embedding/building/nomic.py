"""The graph of nomic-embed-text-v1.5 from its GGUF weights: a BERT with rotary positions and SwiGLU."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import onnx

from lithify.embedding.building.graph import EPSILON, RUNTIME, GraphBuilder, Layers, Matrix, Precision, layer_names

HEAD_WIDTH = 64
WORDS = "token_embd.weight"
ROTARY_BASE = 1000.0
CONTEXT = 2048  # positions it was trained on; beyond them the rotation would have to be rescaled


def nomic_graph(weights: Mapping[str, Matrix], precision: Precision) -> onnx.ModelProto:
    layers = Layers(GraphBuilder(), weights, precision)
    hidden = _embeddings(layers)
    for name in layer_names(weights, "blk."):
        hidden = _layer(layers, name, hidden)
    width = weights[WORDS].shape[1]
    return layers.graph.encoder(_centre(layers.graph, layers.mean_pool(hidden), width), width)


def _embeddings(layers: Layers) -> str:
    kinds = layers.graph.constant("kinds", layers.weights["token_types.weight"])
    kind = layers.graph.node("Gather", kinds, "token_type_ids")
    return layers.residual_norm("token_embd_norm", layers.rows(WORDS, "input_ids"), kind)


def _layer(layers: Layers, name: str, x: str) -> str:
    query, key, value = layers.projections(f"{name}.attn_qkv", x)
    heads = layers.weights[WORDS].shape[1] // HEAD_WIDTH
    mixed = layers.attention(_rotate(layers.graph, query, heads), _rotate(layers.graph, key, heads), value, heads)
    x = layers.residual_norm(f"{name}.attn_output_norm", x, layers.dense(f"{name}.attn_output", mixed))
    inner = _swiglu(layers, name, x)
    return layers.residual_norm(f"{name}.layer_output_norm", x, layers.dense(f"{name}.ffn_down", inner))


def _swiglu(layers: Layers, name: str, x: str) -> str:
    gate = layers.dense(f"{name}.ffn_gate", x)
    swish = layers.graph.node("Mul", gate, layers.graph.node("Sigmoid", gate))
    return layers.graph.node("Mul", layers.dense(f"{name}.ffn_up", x), swish)


def _rotate(graph: GraphBuilder, x: str, heads: int) -> str:
    """Turns each pair of components by an angle that grows with the token's position."""
    angles = rotary_angles()
    cosines = graph.constant("rotary.cosines", np.cos(angles).astype(np.float32))
    sines = graph.constant("rotary.sines", np.sin(angles).astype(np.float32))
    first = graph.numbers(0)
    return graph.node("RotaryEmbedding", x, first, cosines, sines, domain=RUNTIME, num_heads=heads, interleaved=0)


def rotary_angles() -> npt.NDArray[np.float64]:
    """Returns positions × half a head's width."""
    frequencies = ROTARY_BASE ** (-np.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)
    return np.outer(np.arange(CONTEXT), frequencies)


def _centre(graph: GraphBuilder, pooled: str, width: int) -> str:
    """Applies a layer norm over the whole vector, without gain or offset: its prefixes were trained behind it."""
    gain = graph.constant("centring.gain", np.ones(width, np.float32))
    return graph.node("LayerNormalization", pooled, gain, axis=-1, epsilon=EPSILON)
