"""The encoder graphs against plain numpy forward passes, on small random weights of the same architecture."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest

from lithify.embedding.building.bert import cls_bert_graph, mean_bert_graph
from lithify.embedding.building.graph import Float, RowInt8
from lithify.embedding.building.nomic import ROTARY_BASE, nomic_graph
from lithify.embedding.inference import EncoderModel, pad_rows
from lithify.embedding.manifest import Manifest

Floats = npt.NDArray[np.float64]
Weights = Mapping[str, npt.NDArray[np.floating[Any]]]

WIDTH, INNER, VOCABULARY, LAYERS = 128, 256, 50, 2
ROWS = [[2, 7, 11, 3], [2, 5, 3], [2, *range(10, 40), 3]]


def random_weights(shapes: dict[str, tuple[int, ...]], dtype: type[np.floating[Any]] = np.float32) -> Weights:
    """Large matrices in `dtype`, small ones in float32, as the published files have them."""
    random = np.random.default_rng(17)
    drawn = {name: random.standard_normal(shape) / math.sqrt(shape[-1]) * 2 for name, shape in shapes.items()}
    return {name: value.astype(dtype if value.size > 2 * WIDTH else np.float32) for name, value in drawn.items()}


def bert_weights() -> Weights:
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (64, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
        "pooler.dense.weight": (WIDTH, WIDTH),
    }
    square, grow, shrink = (WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER)
    parts = {"attention.self.query": square, "attention.self.key": square, "attention.self.value": square}
    parts |= {"attention.output.dense": square, "intermediate.dense": grow, "output.dense": shrink}
    for layer in range(LAYERS):
        for part, shape in parts.items():
            shapes |= {f"encoder.layer.{layer}.{part}.weight": shape, f"encoder.layer.{layer}.{part}.bias": shape[:1]}
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            norm = f"encoder.layer.{layer}.{part}"
            shapes |= {f"{norm}.weight": (WIDTH,), f"{norm}.bias": (WIDTH,)}
    return random_weights(shapes)


def nomic_weights() -> Weights:
    shapes: dict[str, tuple[int, ...]] = {"token_embd.weight": (VOCABULARY, WIDTH), "token_types.weight": (2, WIDTH)}
    norms = ["token_embd_norm"]
    for layer in range(LAYERS):
        shapes |= {
            f"blk.{layer}.attn_qkv.weight": (3 * WIDTH, WIDTH),
            f"blk.{layer}.attn_output.weight": (WIDTH, WIDTH),
        }
        shapes |= {f"blk.{layer}.{part}.weight": (INNER, WIDTH) for part in ("ffn_up", "ffn_gate")}
        shapes |= {f"blk.{layer}.ffn_down.weight": (WIDTH, INNER)}
        norms += [f"blk.{layer}.attn_output_norm", f"blk.{layer}.layer_output_norm"]
    shapes |= {f"{norm}.{kind}": (WIDTH,) for norm in norms for kind in ("weight", "bias")}
    return random_weights(shapes, np.float16)


def norm(x: Floats, gain: npt.ArrayLike = 1.0, offset: npt.ArrayLike = 0.0) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled: Floats = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + 1e-12) * gain + offset
    return scaled


def attend(query: Floats, key: Floats, value: Floats, head_width: int) -> Floats:
    heads = []
    for at in range(0, WIDTH, head_width):
        part = slice(at, at + head_width)
        scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(head_width))
        heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
    return np.concatenate(heads, axis=1)


def bert_tokens(w: Weights, ids: list[int]) -> Floats:
    def dense(name: str, x: Floats) -> Floats:
        result: Floats = x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]
        return result

    def normed(name: str, x: Floats) -> Floats:
        return norm(x, w[f"{name}.weight"], w[f"{name}.bias"])

    table, places = w["embeddings.word_embeddings.weight"], w["embeddings.position_embeddings.weight"]
    total = table[ids].astype(np.float64) + places[: len(ids)] + w["embeddings.token_type_embeddings.weight"][0]
    x = normed("embeddings.LayerNorm", total)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (dense(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
        mixed = dense(f"{name}.attention.output.dense", attend(query, key, value, 32))
        x = normed(f"{name}.attention.output.LayerNorm", x + mixed)
        inner = dense(f"{name}.intermediate.dense", x)
        gelu = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        x = normed(f"{name}.output.LayerNorm", x + dense(f"{name}.output.dense", gelu))
    return x


def mean_bert_forward(w: Weights, ids: list[int]) -> Floats:
    return np.asarray(bert_tokens(w, ids).mean(axis=0), np.float64)


def cls_bert_forward(w: Weights, ids: list[int]) -> Floats:
    return np.asarray(bert_tokens(w, ids)[0], np.float64)


def turn(x: Floats) -> Floats:
    """Component i of a head turns with component i + 32, by position · base^(-i/32)."""
    turned = x.copy()
    for position in range(len(x)):
        for at in range(0, WIDTH, 64):
            for i in range(32):
                angle = position * ROTARY_BASE ** (-i / 32)
                a, b = x[position, at + i], x[position, at + i + 32]
                turned[position, at + i] = a * math.cos(angle) - b * math.sin(angle)
                turned[position, at + i + 32] = b * math.cos(angle) + a * math.sin(angle)
    return turned


def nomic_forward(w: Weights, ids: list[int]) -> Floats:
    def dense(name: str, x: Floats) -> Floats:
        return np.asarray(x @ w[f"{name}.weight"].T.astype(np.float64))

    def normed(name: str, x: Floats) -> Floats:
        return norm(x, w[f"{name}.weight"], w[f"{name}.bias"])

    x = normed("token_embd_norm", w["token_embd.weight"][ids].astype(np.float64) + w["token_types.weight"][0])
    for layer in range(LAYERS):
        name = f"blk.{layer}"
        query, key, value = np.split(dense(f"{name}.attn_qkv", x), 3, axis=1)
        mixed = dense(f"{name}.attn_output", attend(turn(query), turn(key), value, 64))
        x = normed(f"{name}.attn_output_norm", x + mixed)
        gate = dense(f"{name}.ffn_gate", x)
        inner = dense(f"{name}.ffn_up", x) * gate / (1 + np.exp(-gate))
        x = normed(f"{name}.layer_output_norm", x + dense(f"{name}.ffn_down", inner))
    return norm(x.mean(axis=0))


def answers(graph: onnx.ModelProto, folder: Path) -> Floats:
    path = folder / "model.onnx"
    path.write_bytes(graph.SerializeToString())
    manifest = Manifest(name="graph", model="model.onnx", dimensions=WIDTH, max_tokens=64)
    return EncoderModel(path, manifest, threads=1).infer(*pad_rows(ROWS)).astype(np.float64)


CASES = [
    (mean_bert_graph, bert_weights, mean_bert_forward),
    (cls_bert_graph, bert_weights, cls_bert_forward),
    (nomic_graph, nomic_weights, nomic_forward),
]


@pytest.mark.parametrize(("graph", "weights", "forward"), CASES)
def test_the_graph_computes_the_architecture(graph: Any, weights: Any, forward: Any, tmp_path: Path) -> None:
    drawn = weights()
    expected = np.stack([forward(drawn, row) for row in ROWS])
    np.testing.assert_allclose(answers(graph(drawn, Float()), tmp_path), expected, atol=2e-5)


@pytest.mark.parametrize("precision", [RowInt8(), RowInt8(largest_weight=64, exact_projections=False)])
@pytest.mark.parametrize(("graph", "weights", "forward"), CASES)
def test_the_byte_variant_stays_close(
    graph: Any, weights: Any, forward: Any, precision: RowInt8, tmp_path: Path
) -> None:
    drawn = weights()
    exact = np.stack([forward(drawn, row) for row in ROWS])
    found = answers(graph(drawn, precision), tmp_path)
    cosines = (exact * found).sum(axis=1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() > 0.99


@pytest.mark.parametrize(("graph", "weights"), [case[:2] for case in CASES])
def test_the_same_weights_make_the_same_bytes(graph: Any, weights: Any) -> None:
    first, second = (graph(weights(), RowInt8()).SerializeToString(deterministic=True) for _ in range(2))
    assert first == second
