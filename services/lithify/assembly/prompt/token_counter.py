"""Counts the tokens of a prompt: by the estimator, or by the host's own tokenizer."""

from dataclasses import dataclass
from pathlib import Path

from lithify.embedding.tokenizer import TextTokenizer
from lithify.errors import Misconfigured
from lithify.memory.prompt.composition import Composition
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class PromptCounter:
    """Counts tokens; `exact` if a whole text can be counted.

    The estimator is defined on items: one odd script would tip a whole.
    """

    name: str
    count: TokenCounter
    exact: bool

    def total(self, composition: Composition, text: str) -> int:
        """Returns what the memory part costs: by the tokenizer as one text, by the estimator item by item."""
        return self.count(text) if self.exact else composition.tokens(self.count)


ESTIMATOR = PromptCounter("estimator", estimate_tokens, exact=False)


def load_counter(file: Path | None) -> PromptCounter:
    """Loads the tokenizer of a `tokenizer.json`, else the estimator. Raises Misconfigured if it cannot be read."""
    if file is None:
        return ESTIMATOR
    try:
        definition = file.read_bytes()
    except OSError as error:
        raise Misconfigured(f"the token counter {file} cannot be read: {error.strerror}") from error
    return PromptCounter(file.name, TextTokenizer(definition, add_special_tokens=False).count, exact=True)
