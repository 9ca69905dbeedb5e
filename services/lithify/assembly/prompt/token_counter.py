"""Counts the tokens of a prompt: by the estimator, or by the host's own tokenizer."""

from dataclasses import dataclass
from pathlib import Path

from lithify.embedding.tokenizer import TextTokenizer
from lithify.errors import Misconfigured
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_lines


@dataclass(frozen=True, slots=True)
class PromptCounter:
    """Counts tokens of a text; `exact` if the whole may cost more than the sum of its lines."""

    name: str
    count: TokenCounter
    exact: bool


ESTIMATOR = PromptCounter("estimator", estimate_lines, exact=False)


def load_counter(file: Path | None) -> PromptCounter:
    """Loads the tokenizer of a `tokenizer.json`, else the estimator. Raises Misconfigured if it cannot be read."""
    if file is None:
        return ESTIMATOR
    try:
        definition = file.read_bytes()
    except OSError as error:
        raise Misconfigured(f"the token counter {file} cannot be read: {error.strerror}") from error
    return PromptCounter(file.name, TextTokenizer(definition, add_special_tokens=False).count, exact=True)
