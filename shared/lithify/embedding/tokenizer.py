"""Text to token ids, cut to what a model can read."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from lithify.errors import Invalid, Misconfigured
from lithify.memory.vectors.tiers import window_spans

Row = list[int]
"""Token ids of one pass through the model, special tokens included."""

_SAMPLE = "a"  # any text with at least one token shows where the special tokens go


class TextTokenizer:
    """Wraps a `tokenizer.json`. Its own cutting and padding are switched off: they would lose text silently."""

    def __init__(self, definition: bytes, *, add_special_tokens: bool) -> None:
        try:
            self._tokenizer = Tokenizer.from_buffer(definition)
        except ValueError as error:
            raise Misconfigured(f"the tokenizer cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._opening, self._closing = self._special_tokens() if add_special_tokens else ([], [])

    def count(self, text: str) -> int:
        return len(self._ids(text))

    def head(self, text: str, limit: int) -> Row:
        """Returns the beginning of a text, as long as fits into `limit` tokens."""
        return self._add_special_tokens(self._ids(text)[: limit - self._overhead])

    def windows(self, text: str, size: int, overlap: int) -> list[Row]:
        """Returns the text in rows of at most `size` tokens; a text without tokens is one row of special tokens."""
        ids = self._ids(text)
        spans = window_spans(len(ids), size - self._overhead, overlap) or [(0, 0)]
        return [self._add_special_tokens(ids[start:stop]) for start, stop in spans]

    @property
    def _overhead(self) -> int:
        return len(self._opening) + len(self._closing)

    def _ids(self, text: str) -> Sequence[int]:
        try:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        except TypeError as error:  # how it refuses half a surrogate pair
            raise Invalid("the text is not valid Unicode") from error
        return ids

    def _add_special_tokens(self, ids: Sequence[int]) -> Row:
        return [*self._opening, *ids, *self._closing]

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """Finds the ids that the tokenizer puts before and after a text."""
        encoding = self._tokenizer.encode(_SAMPLE, add_special_tokens=True)
        mask = encoding.special_tokens_mask
        if 0 not in mask:
            return encoding.ids, []
        first = mask.index(0)
        last = len(mask) - 1 - mask[::-1].index(0)
        return encoding.ids[:first], encoding.ids[last + 1 :]
