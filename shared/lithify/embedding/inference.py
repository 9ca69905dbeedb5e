"""One ONNX model in memory: batches of rows of token ids in, one vector per row out."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from lithify.embedding.contract import Vectors
from lithify.embedding.manifest import Manifest, Pooling
from lithify.embedding.tokenizer import Row
from lithify.embedding.vectors import mean_over_tokens
from lithify.errors import LithifyError, Misconfigured

Ids = npt.NDArray[np.int64]
Feed = Mapping[str, Ids]

Batch = list[int]
"""Positions of the texts that go through the model together."""

# The runtime's own exceptions share no ancestor below Exception.
RUNTIME_ERRORS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    *(
        kind
        for kind in vars(onnxruntime.capi.onnxruntime_pybind11_state).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ),
)

LOG_ERRORS_ONLY = 3


def plan_batches(lengths: Sequence[int], budget: int) -> list[Batch]:
    """Groups similar lengths, shortest first: rows × longest row ≤ budget, with padding; a longer row goes alone."""
    batches: list[Batch] = []
    for position in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        # Sorted, so this row is the longest of the batch it joins.
        if not batches or (len(batches[-1]) + 1) * lengths[position] > budget:
            batches.append([])
        batches[-1].append(position)
    return batches


class EncoderModel:
    """Runs the model a manifest describes. Safe to call from several threads: a run keeps no state."""

    def __init__(self, path: Path, manifest: Manifest, threads: int) -> None:
        self.session = open_session(path, threads)
        self._inputs = _inputs(self.session, manifest)
        self._output = _output(self.session, manifest)
        self._pooling = _pooling(manifest)

    def run(self, rows: Sequence[Row]) -> Vectors:
        """Returns one vector per row. Raises LithifyError when the runtime refuses, e.g. for want of memory."""
        return self.infer(*pad_rows(rows))

    def infer(self, ids: Ids, mask: Ids) -> Vectors:
        feed = self.feed(ids, mask)
        try:
            (output,) = self.session.run([self._output], feed)
        except RUNTIME_ERRORS as error:
            raise LithifyError(f"the embedding model failed on {len(ids)} × {ids.shape[1]} tokens: {error}") from error
        return pool_tokens(output, mask, self._pooling)

    def feed(self, ids: Ids, mask: Ids) -> Feed:
        """Returns the arrays under the names the model knows them by; all tokens are of type 0."""
        return {name: array for name, array in zip(self._inputs, (ids, mask, np.zeros_like(ids)), strict=False) if name}


def open_session(path: Path, threads: int) -> Any:
    """Loads a model; 0 threads means one per core. Raises Misconfigured if this runtime cannot execute the file."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.inter_op_num_threads = 1
    options.log_severity_level = LOG_ERRORS_ONLY
    # Idle threads sleep instead of spinning: the same cores serve Redis, the store and the gateway.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except RUNTIME_ERRORS as error:
        raise Misconfigured(f"{path} cannot be loaded as an ONNX model: {error}") from error


def pad_rows(rows: Sequence[Row]) -> tuple[Ids, Ids]:
    """Returns ids and attention mask, filled up with zeros to the longest row."""
    longest = max(map(len, rows))
    ids, mask = np.zeros((2, len(rows), longest), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return ids, mask


def pool_tokens(output: npt.NDArray[np.floating[Any]], mask: Ids, pooling: Pooling | None) -> Vectors:
    """Makes one vector of the token vectors of each row; without a pooling the model has done that itself."""
    if pooling == "mean":
        return mean_over_tokens(output, mask)
    vectors: Vectors = (output[:, 0] if pooling == "cls" else output).astype(np.float32, copy=False)
    return vectors


def _inputs(session: Any, manifest: Manifest) -> tuple[str, ...]:
    """Returns names by role; a role the model does not ask for is left empty."""
    asked = {node.name for node in session.get_inputs()}
    unknown = sorted(asked.difference(manifest.input_names))
    if unknown:
        raise Misconfigured(f"{manifest.name}: the model asks for {', '.join(unknown)}, which inputNames does not list")
    return tuple(name if name in asked else "" for name in manifest.input_names)


def _output(session: Any, manifest: Manifest) -> str:
    """Returns the output's name, once its shape fits what the manifest says about pooling."""
    shapes = {node.name: node.shape for node in session.get_outputs()}
    if manifest.output_name not in shapes:
        known = ", ".join(sorted(shapes))
        raise Misconfigured(f"{manifest.name}: the model has no output {manifest.output_name!r}; it has {known}")
    rank = len(shapes[manifest.output_name])
    expected = 3 if _pooling(manifest) else 2
    if rank != expected:
        advice = "name a pooling" if rank == 3 else "leave the pooling out"
        raise Misconfigured(f"{manifest.name}: output {manifest.output_name!r} has {rank} axes; {advice}")
    return manifest.output_name


def _pooling(manifest: Manifest) -> Pooling | None:
    """Returns how tokens are pooled; token vectors without a word on pooling are averaged (spec 03 §6)."""
    return manifest.pooling or ("mean" if manifest.output_name == "last_hidden_state" else None)
