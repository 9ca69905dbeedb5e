"""Reads a GGUF file, the container in which the nomic weights are published, and writes the tokenizer inside it."""

import json
import math
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lithify.errors import Misconfigured

MAGIC = b"GGUF"
VERSIONS = (2, 3)  # version 1 counted with 32 bits and has not been written since 2023
DEFAULT_ALIGNMENT = 32

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
# Quantised tensors have other codes; the official file of the profile holds these two only.
_DTYPES: dict[int, type[np.floating[Any]]] = {0: np.float32, 1: np.float16}

WORD_START = "\u2581"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Value = bool | int | float | str | list["Value"]


@dataclass(frozen=True, slots=True)
class Gguf:
    """Holds the content of a file."""

    metadata: dict[str, Value]
    tensors: dict[str, npt.NDArray[np.floating[Any]]]  # views of the mapped file, read when touched

    def array(self, key: str) -> list["Value"]:
        """Returns a list of the metadata. Raises Misconfigured if there is none of that name."""
        value = self.metadata.get(key)
        if not isinstance(value, list):
            raise Misconfigured(f"the GGUF file has no list {key}")
        return value


def read_gguf(path: Path) -> Gguf:
    """Reads a file. Raises Misconfigured when it is no GGUF, is cut short, or holds tensors other than f32 and f16."""
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _parse(_Cursor(content))
    except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} cannot be read as GGUF: {error}") from error


class _Cursor:
    """Keeps a position in the file, which every read moves."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.at = 0

    def take(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.content, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def text(self) -> str:
        length = self.take("Q")
        if length > len(self.content) - self.at:
            raise ValueError("a string reaches beyond the end of the file")
        self.at += length
        return self.content[self.at - length : self.at].decode()

    def value(self, kind: int) -> Value:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            item = self.take("I")
            return [self.value(item) for _ in range(self.take("Q"))]
        if kind not in _SCALARS:
            raise ValueError(f"unknown value type {kind}")
        scalar: Value = self.take(_SCALARS[kind])
        return scalar


def _parse(cursor: _Cursor) -> Gguf:
    if cursor.content[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin with GGUF")
    cursor.at = len(MAGIC)
    version = cursor.take("I")
    if version not in VERSIONS:
        raise ValueError(f"version {version} is not one of {VERSIONS}")
    n_tensors = cursor.take("Q")
    n_values = cursor.take("Q")
    metadata = {cursor.text(): cursor.value(cursor.take("I")) for _ in range(n_values)}
    places = [_place(cursor) for _ in range(n_tensors)]
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0:
        raise ValueError(f"alignment {alignment!r} is not a positive number")
    start = -(-cursor.at // alignment) * alignment
    return Gguf(metadata, {place.name: _tensor(cursor.content, place, start) for place in places})


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    shape: tuple[int, ...]  # outermost first, as numpy has it; the file has it the other way round
    kind: int
    offset: int  # from the start of the data


def _place(cursor: _Cursor) -> _Place:
    name = cursor.text()
    shape = [cursor.take("Q") for _ in range(cursor.take("I"))]
    return _Place(name, tuple(reversed(shape)), cursor.take("I"), cursor.take("Q"))


def _tensor(content: mmap.mmap, place: _Place, start: int) -> npt.NDArray[np.floating[Any]]:
    if place.kind not in _DTYPES:
        raise ValueError(f"tensor {place.name} is quantised (type {place.kind}); f32 and f16 files can be read")
    flat = np.frombuffer(content, _DTYPES[place.kind], math.prod(place.shape), start + place.offset)
    return flat.reshape(place.shape)


def tokenizer_definition(tokens: Sequence[str]) -> str:
    """Makes the `tokenizer.json` of a BERT vocabulary.

    It is written by hand rather than by the tokenizers package, so that every version of it writes the same bytes.
    """
    vocabulary = {wordpiece(token): number for number, token in enumerate(tokens)}
    definition = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_special(content, vocabulary[content]) for content in SPECIAL],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _frame(vocabulary["[CLS]"], vocabulary["[SEP]"]),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }
    return json.dumps(definition, ensure_ascii=False)


def wordpiece(token: str) -> str:
    """Returns a token as BERT writes it: GGUF marks the pieces that begin a word, BERT those that continue one."""
    if token.startswith(WORD_START):
        return token.removeprefix(WORD_START)
    bracketed = token.startswith("[") and token.endswith("]") and len(token) > len("[]")
    return token if bracketed else f"##{token}"


def _special(content: str, number: int) -> dict[str, object]:
    exact = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": content, "special": True, **exact}


def _frame(opening: int, closing: int) -> dict[str, object]:
    """Describes how a text is framed: [CLS] text [SEP]."""
    single = [_piece("SpecialToken", "[CLS]"), _piece("Sequence", "A"), _piece("SpecialToken", "[SEP]")]
    pair = [*single, _piece("Sequence", "B", 1), _piece("SpecialToken", "[SEP]", 1)]
    numbers = {"[CLS]": opening, "[SEP]": closing}
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in numbers.items()}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}


def _piece(kind: str, name: str, text: int = 0) -> dict[str, object]:
    return {kind: {"id": name, "type_id": text}}
