"""The abstractive summariser: one input of all turns, one greedy pass, one text (spec 05 §6)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from lithify.errors import Invalid, LithifyError, Misconfigured
from lithify.memory.compaction.draft import Written
from lithify.summarising.decoding import greedy
from lithify.summarising.export import find_export
from lithify.summarising.graphs import Graphs
from lithify.summarising.vocabulary import Vocabulary, read_vocabulary

TASK: Final = "summarize: "  # the words T5 was trained to see before a text to be shortened
PROBE: Final = "The quick brown fox jumps over the lazy dog."


def never() -> bool:
    return False


@dataclass(frozen=True, slots=True, eq=False)
class OnnxSummariser:
    """Implements Abstractive. The same weights and texts always give the same words."""

    graphs: Graphs
    vocabulary: Vocabulary
    context: int  # tokens of one input, special ones included
    cancelled: Callable[[], bool] = never

    @property
    def method(self) -> str:
        return "t5"

    @property
    def ready(self) -> bool:
        """Loading has probed the model, so whoever holds one can write."""
        return True

    def fits(self, texts: Sequence[str]) -> bool:
        return len(self._ids(texts)) <= self.context

    def write(self, texts: Sequence[str], max_tokens: int) -> Written:
        """Raises Invalid for more than the context holds, Cancelled between two steps, LithifyError for no text."""
        ids = self._ids(texts)
        if len(ids) > self.context:
            raise Invalid(f"{len(ids)} tokens are more than the summariser's context of {self.context}")
        source = self.graphs.read(ids)
        vocabulary = self.vocabulary
        step = partial(self.graphs.next_logits, source)
        decoded = greedy(step, vocabulary.start, vocabulary.ends, max_tokens, self.cancelled)
        text = vocabulary.decode(decoded.tokens)
        if not text:
            raise LithifyError("the summariser wrote no text")
        return Written(text, decoded.confidence)

    def _ids(self, texts: Sequence[str]) -> list[int]:
        return self.vocabulary.encode(TASK + "\n".join(texts))


def load_summariser(folder: Path, threads: int, cancelled: Callable[[], bool] = never) -> OnnxSummariser:
    """The export in `folder`, probed; 0 threads means one per core.

    `cancelled` is asked between decoding steps, from the thread that decodes. Raises Misconfigured, with the reason,
    if the folder is not an export this runtime can execute.
    """
    export = find_export(folder)
    vocabulary = read_vocabulary(export.tokenizer, export.config)
    graphs = Graphs(export.encoder, export.decoder, threads)
    _probe(folder, graphs, vocabulary)
    return OnnxSummariser(graphs, vocabulary, export.config.context, cancelled)


def _probe(folder: Path, graphs: Graphs, vocabulary: Vocabulary) -> None:
    """One step shows whether the two graphs belong together and take what they are given."""
    try:
        graphs.next_logits(graphs.read(vocabulary.encode(TASK + PROBE)), [vocabulary.start])
    except LithifyError as error:
        raise Misconfigured(f"the summariser at {folder} does not run: {error}") from error
