"""Words to token ids and back, with the ids that steer a decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from lithify.errors import Invalid, Misconfigured
from lithify.summarising.export import ExportConfig

PAD, END = "<pad>", "</s>"  # T5's names, for exports without config.json


@dataclass(frozen=True, slots=True)
class Vocabulary:
    tokenizer: Tokenizer
    start: int
    ends: frozenset[int]

    def encode(self, text: str) -> list[int]:
        try:
            ids: list[int] = self.tokenizer.encode(text).ids
        except TypeError as error:  # how it refuses half a surrogate pair
            raise Invalid("the text is not valid Unicode") from error
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text.strip()


def read_vocabulary(path: Path, config: ExportConfig) -> Vocabulary:
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} cannot be read as a tokenizer: {error}") from error
    # Exports carry the limits of their own use; cut text would be summarised as if it were all there is.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    start = _first_known(config.decoder_start_token_id, config.pad_token_id, tokenizer.token_to_id(PAD))
    ends = config.eos_token_id or tuple(_known(tokenizer.token_to_id(END)))
    if start is None or not ends:
        raise Misconfigured(
            f"{path}: neither the tokenizer nor config.json says how decoding starts and ends; "
            "add decoder_start_token_id and eos_token_id to config.json"
        )
    return Vocabulary(tokenizer, start, frozenset(ends))


def _known(*ids: int | None) -> list[int]:
    return [token for token in ids if token is not None]


def _first_known(*ids: int | None) -> int | None:
    return next(iter(_known(*ids)), None)
