"""Finds the parts of a sequence-to-sequence export in a folder, whatever tool wrote them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lithify.errors import Misconfigured

TOKENIZER_FILE: Final = "tokenizer.json"
CONFIG_FILE: Final = "config.json"
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
    """What `config.json` says about decoding; None where it is silent."""

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


def find_export(folder: Path) -> Export:
    """Raises Misconfigured, naming what is missing, if the folder is not an export."""
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
    """A missing file leaves everything to the tokenizer and T5's conventions."""
    try:
        return ExportConfig.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return ExportConfig()
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        detail = error.errors()[0]
        raise Misconfigured(f"{path}: {'.'.join(map(str, detail['loc']))}: {detail['msg']}") from None


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
