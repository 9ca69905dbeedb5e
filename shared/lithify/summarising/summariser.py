"""Summarises in a model's own words: one input of all turns, one greedy pass, one text (spec 05 §6)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from lithify.errors import Invalid, LithifyError, Misconfigured
from lithify.memory.compaction.draft import IsCancelled, WrittenText, never
from lithify.summarising.export import Vocabulary, find_export, read_vocabulary
from lithify.summarising.graphs import Graphs, Logits

TASK: Final = "summarize: "  # the words T5 was trained to see before a text to be shortened
PROBE: Final = "The quick brown fox jumps over the lazy dog."

NextLogits = Callable[[Sequence[int]], Logits]


class Cancelled(BaseException):
    """Decoding was told to stop. It is no Exception: an abandoned summary is not a failed attempt to write one."""


@dataclass(frozen=True, slots=True)
class DecodedTokens:
    tokens: tuple[int, ...]  # without start and end
    confidence: float  # exp of the mean log-probability of the tokens


@dataclass(frozen=True, slots=True, eq=False)
class OnnxSummariser:
    """Implements Abstractive. The same weights and texts always give the same words."""

    graphs: Graphs
    vocabulary: Vocabulary
    context: int  # tokens of one input, special ones included

    @property
    def method(self) -> str:
        return "t5"

    @property
    def ready(self) -> bool:
        """Loading has probed the model, so whoever holds one can write."""
        return True

    def fits(self, texts: Sequence[str]) -> bool:
        return len(self._ids(texts)) <= self.context

    def write(self, texts: Sequence[str], max_tokens: int, is_cancelled: IsCancelled = never) -> WrittenText:
        """Writes a summary of the texts; `is_cancelled` is asked between decoding steps, in the thread that decodes.

        Raises Invalid for more than the context holds, Cancelled between two steps, LithifyError for no text.
        """
        ids = self._ids(texts)
        if len(ids) > self.context:
            raise Invalid(f"{len(ids)} tokens are more than the summariser's context of {self.context}")
        source = self.graphs.read(ids)
        vocabulary = self.vocabulary
        decoded = decode_greedily(
            partial(self.graphs.next_logits, source),
            start=vocabulary.start,
            ends=vocabulary.ends,
            limit=max_tokens,
            is_cancelled=is_cancelled,
        )
        text = vocabulary.decode(decoded.tokens)
        if not text:
            raise LithifyError("the summariser wrote no text")
        return WrittenText(text, decoded.confidence)

    def _ids(self, texts: Sequence[str]) -> list[int]:
        return self.vocabulary.encode(TASK + "\n".join(texts))


def load_summariser(folder: Path, threads: int) -> OnnxSummariser:
    """Loads the export in `folder` and probes it; 0 threads means one per core.

    Raises Misconfigured, with the reason, if the folder is not an export this runtime can execute.
    """
    export = find_export(folder)
    vocabulary = read_vocabulary(export.tokenizer, export.config)
    graphs = Graphs(export.encoder, export.decoder, threads)
    _probe(folder, graphs, vocabulary)
    return OnnxSummariser(graphs, vocabulary, export.config.context)


def _probe(folder: Path, graphs: Graphs, vocabulary: Vocabulary) -> None:
    """Tries one step, which shows whether the two graphs belong together and take what they are given."""
    try:
        graphs.next_logits(graphs.read(vocabulary.encode(TASK + PROBE)), [vocabulary.start])
    except LithifyError as error:
        raise Misconfigured(f"the summariser at {folder} does not run: {error}") from error


def decode_greedily(
    next_logits: NextLogits, start: int, ends: frozenset[int], limit: int, is_cancelled: IsCancelled = never
) -> DecodedTokens:
    """Takes the likeliest token at every step, and notes how sure the model was of them (spec 05 §6).

    Raises Cancelled between two steps, LithifyError when not one token is written.
    """
    written = [start]
    log_probabilities: list[float] = []
    while len(log_probabilities) < limit:
        if is_cancelled():
            raise Cancelled
        logits = next_logits(written)
        token = int(logits.argmax())
        if token in ends:
            break
        written.append(token)
        log_probabilities.append(log_probability(logits, token))
    if not log_probabilities:
        raise LithifyError("the summariser wrote nothing")
    return DecodedTokens(tuple(written[1:]), math.exp(math.fsum(log_probabilities) / len(log_probabilities)))


def log_probability(logits: Logits, token: int) -> float:
    """Shifts by the highest score, so that no exponential overflows."""
    shifted = logits - logits.max()
    return float(shifted[token] - np.log(np.exp(shifted).sum()))
