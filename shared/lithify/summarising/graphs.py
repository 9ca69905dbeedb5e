"""Runs the encoder and the decoder: token ids in, scores of the next token out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from lithify.embedding.inference import RUNTIME_ERRORS, Ids, open_session
from lithify.errors import LithifyError, Misconfigured

Array: TypeAlias = npt.NDArray[Any]
Logits: TypeAlias = npt.NDArray[np.float64]

HIDDEN: Final = "last_hidden_state"
LOGITS: Final = "logits"
# Chooses between the two graphs of a merged decoder; false runs the one that needs no cache.
CACHE_BRANCH: Final = "use_cache_branch"
PAST: Final = "past_key_values."
_TYPES: Final = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


@dataclass(frozen=True, slots=True, eq=False)
class EncodedInput:
    """Holds an input as the decoder looks at it."""

    hidden: Array
    mask: Ids


class Graphs:
    """Safe to call from several threads: a run keeps no state.

    The decoder reads its whole output again at every step. A key-value cache would save that, but a summary is at most
    64 tokens long, and without a cache every export runs, merged or not.
    """

    def __init__(self, encoder: Path, decoder: Path, threads: int) -> None:
        self._encoder = open_session(encoder, threads)
        self._decoder = open_session(decoder, threads)
        _demand_output(self._encoder, HIDDEN, encoder)
        _demand_output(self._decoder, LOGITS, decoder)
        self._encoder_inputs = _names(self._encoder)
        self._decoder_inputs = _names(self._decoder)
        self._idle = _idle_inputs(self._decoder)

    def read(self, ids: Sequence[int]) -> EncodedInput:
        row = np.array([ids], np.int64)
        mask = np.ones_like(row)
        feed = {"input_ids": row, "attention_mask": mask}
        return EncodedInput(_run(self._encoder, HIDDEN, _select(feed, self._encoder_inputs)), mask)

    def next_logits(self, source: EncodedInput, written: Sequence[int]) -> Logits:
        """Returns the scores of every token that could follow what is written."""
        feed = {
            "input_ids": np.array([written], np.int64),
            "encoder_hidden_states": source.hidden,
            "encoder_attention_mask": source.mask,
        }
        logits: Logits = _run(self._decoder, LOGITS, _select(feed, self._decoder_inputs) | self._idle)[0, -1]
        return logits.astype(np.float64)


def _run(session: Any, output: str, feed: Mapping[str, Array]) -> Array:
    try:
        (array,) = session.run([output], feed)
    except RUNTIME_ERRORS as error:
        raise LithifyError(f"the summariser's model failed: {error}") from error
    result: Array = array
    return result


def _demand_output(session: Any, output: str, path: Path) -> None:
    known = [node.name for node in session.get_outputs()]
    if output not in known:
        raise Misconfigured(f"{path} has no output {output!r}; it has {', '.join(known)}")


def _names(session: Any) -> frozenset[str]:
    return frozenset(node.name for node in session.get_inputs())


def _select(feed: Mapping[str, Array], inputs: frozenset[str]) -> dict[str, Array]:
    """Leaves out what a graph does not ask for: some exports fold the mask away, and unknown inputs are refused."""
    return {name: array for name, array in feed.items() if name in inputs}


def _idle_inputs(decoder: Any) -> dict[str, Array]:
    """Makes what a merged decoder asks for although the branch without a cache never looks at it."""
    nodes = decoder.get_inputs()
    empty = {node.name: _empty(node) for node in nodes if node.name.startswith(PAST)}
    branch = {node.name: np.array([False]) for node in nodes if node.name == CACHE_BRANCH}
    return empty | branch


def _empty(node: Any) -> Array:
    """Makes a cache of no tokens: batch 1, and 0 for the other axis whose length is open."""
    batch, *axes = node.shape
    del batch
    return np.zeros((1, *(axis if isinstance(axis, int) else 0 for axis in axes)), _TYPES.get(node.type, np.float32))
