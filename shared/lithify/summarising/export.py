"""Finds the parts of a sequence-to-sequence export in a folder, whatever tool wrote them, and reads its vocabulary."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from tokenizers import Tokenizer

from lithify.errors import Invalid, Misconfigured

TOKENIZER_FILE: Final = "tokenizer.json"
CONFIG_FILE: Final = "config.json"
PAD: Final = "<pad>"  # T5's names, for exports without config.json
END: Final = "</s>"
CONTEXT: Final = 512  # what T5 was trained with, for exports that do not say (spec 05 §6)

# Stems of the graph pairs, best first. A merged decoder holds two graphs, of which decoding without a cache needs one.
PAIRS: Final = (
    ("encoder_model", "decoder_model"),
    ("encoder_model", "decoder_model_merged"),
    ("encoder", "decoder"),
)
# Precisions in order of choice: bytes run fastest on a CPU, then the export's own; all others come after.
VARIANTS: Final = ("_quantized", "_int8", "_uint8", "")
# Hubs keep the graphs in a folder of their own, beside other formats.
GRAPH_FOLDERS: Final = (".", "onnx")


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, int) else value


TokenIds: TypeAlias = Annotated[tuple[int, ...], BeforeValidator(_as_tuple)]


class ExportConfig(BaseModel):
    """Holds what `config.json` says about decoding; None where it is silent."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pad_token_id: int | None = None
    decoder_start_token_id: int | None = None
    eos_token_id: TokenIds | None = None
    context: int = Field(CONTEXT, ge=16, validation_alias=AliasChoices("n_positions", "max_position_embeddings"))


@dataclass(frozen=True, slots=True)
class Export:
    encoder: Path
    decoder: Path
    tokenizer: Path
    config: ExportConfig


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Turns words into token ids and back; `start` and `ends` are the ids that steer a decoder."""

    tokenizer: Tokenizer
    start: int
    ends: frozenset[int]

    def encode(self, text: str) -> list[int]:
        """Raises Invalid for text that is not valid Unicode."""
        try:
            ids: list[int] = self.tokenizer.encode(text).ids
        except TypeError as error:  # how it refuses half a surrogate pair
            raise Invalid("the text is not valid Unicode") from error
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text.strip()


def find_export(folder: Path) -> Export:
    """Returns the best pair of graphs and what belongs to it.

    Raises Misconfigured, naming what is missing, if the folder is not an export.
    """
    if not folder.is_dir():
        raise Misconfigured(f"no summariser at {folder}: there is no such folder")
    tokenizer = folder / TOKENIZER_FILE
    if not tokenizer.is_file():
        raise Misconfigured(f"no summariser at {folder}: {TOKENIZER_FILE} is missing")
    pair = next(_pairs(folder), None)
    if pair is None:
        raise Misconfigured(
            f"no summariser at {folder}: it needs encoder_model.onnx and decoder_model.onnx, "
            "or both with the same ending such as _quantized"
        )
    return Export(*pair, tokenizer, read_config(folder / CONFIG_FILE))


def read_config(path: Path) -> ExportConfig:
    """Reads the file; a missing one leaves everything to the tokenizer and T5's conventions."""
    try:
        return ExportConfig.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return ExportConfig()
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        detail = error.errors()[0]
        raise Misconfigured(f"{path}: {'.'.join(map(str, detail['loc']))}: {detail['msg']}") from None


def read_vocabulary(path: Path, config: ExportConfig) -> Vocabulary:
    """Raises Misconfigured if the file is no tokenizer, or nothing says how decoding starts and ends."""
    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} cannot be read as a tokenizer: {error}") from error
    # Exports carry the limits of their own use; cut text would be summarised as if it were all there is.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    starts = (config.decoder_start_token_id, config.pad_token_id, tokenizer.token_to_id(PAD))
    start = next((token for token in starts if token is not None), None)
    end = tokenizer.token_to_id(END)
    ends = config.eos_token_id or (() if end is None else (end,))
    if start is None or not ends:
        raise Misconfigured(
            f"{path}: neither the tokenizer nor config.json says how decoding starts and ends; "
            "add decoder_start_token_id and eos_token_id to config.json"
        )
    return Vocabulary(tokenizer, start, frozenset(ends))


def _pairs(folder: Path) -> Iterator[tuple[Path, Path]]:
    for place in GRAPH_FOLDERS:
        for encoder, decoder in PAIRS:
            for variant in _variants(folder / place, encoder):
                pair = tuple(folder / place / f"{stem}{variant}.onnx" for stem in (encoder, decoder))
                if all(path.is_file() for path in pair):
                    yield pair[0], pair[1]


def _variants(folder: Path, encoder: str) -> list[str]:
    found = {path.stem.removeprefix(encoder) for path in folder.glob(f"{encoder}*.onnx")}
    return sorted(found, key=lambda variant: (_rank(variant), variant))


def _rank(variant: str) -> int:
    return VARIANTS.index(variant) if variant in VARIANTS else len(VARIANTS)
