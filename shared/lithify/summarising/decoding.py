"""Greedy decoding: the likeliest token at every step, and how sure the model was of them (spec 05 §6)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lithify.errors import LithifyError
from lithify.summarising.graphs import Logits

NextLogits = Callable[[Sequence[int]], Logits]


class Cancelled(BaseException):
    """Decoding was told to stop. No Exception: an abandoned summary is not a failed attempt to write one."""


@dataclass(frozen=True, slots=True)
class Decoded:
    tokens: tuple[int, ...]  # without start and end
    confidence: float  # exp of the mean log-probability of the tokens


def greedy(
    next_logits: NextLogits, start: int, ends: frozenset[int], limit: int, cancelled: Callable[[], bool]
) -> Decoded:
    """Raises Cancelled between two steps, LithifyError when not one token is written."""
    written = [start]
    log_probabilities: list[float] = []
    while len(log_probabilities) < limit:
        if cancelled():
            raise Cancelled
        logits = next_logits(written)
        token = int(logits.argmax())
        if token in ends:
            break
        written.append(token)
        log_probabilities.append(log_probability(logits, token))
    if not log_probabilities:
        raise LithifyError("the summariser wrote nothing")
    return Decoded(tuple(written[1:]), math.exp(math.fsum(log_probabilities) / len(log_probabilities)))


def log_probability(logits: Logits, token: int) -> float:
    """Shifted by the highest score, so that no exponential overflows."""
    shifted = logits - logits.max()
    return float(shifted[token] - np.log(np.exp(shifted).sum()))
