"""How the tokens of a prompt are counted: by the estimator, or by the host's own tokenizer."""

from dataclasses import dataclass
from pathlib import Path

from lithify.embedding.tokenizer import TextTokenizer
from lithify.errors import Misconfigured
from lithify.memory.prompt.composition import Composition
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Counter:
    """`exact` if a whole text can be counted; the estimator is defined on items, one odd script would tip a whole."""

    name: str
    count: TokenCounter
    exact: bool

    def total(self, composition: Composition, text: str) -> int:
        """What the memory part costs: by the tokenizer as one text, by the estimator item by item."""
        return self.count(text) if self.exact else composition.tokens(self.count)


ESTIMATOR = Counter("estimator", estimate_tokens, exact=False)


def load_counter(file: Path | None) -> Counter:
    """The tokenizer in a `tokenizer.json`, the estimator without one. Raises Misconfigured if it cannot be read."""
    if file is None:
        return ESTIMATOR
    try:
        definition = file.read_bytes()
    except OSError as error:
        raise Misconfigured(f"the token counter {file} cannot be read: {error.strerror}") from error
    return Counter(file.name, TextTokenizer(definition, add_special_tokens=False).count, exact=True)
