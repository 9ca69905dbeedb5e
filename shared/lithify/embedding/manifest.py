"""`embedding.json`: all that must be known about a model folder to get the right vectors out of it."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from lithify.errors import Misconfigured
from lithify.memory.vectors.windows import WINDOW

MANIFEST_FILE = "embedding.json"
TIERS = 3

Pooling = Literal["mean", "cls"]


def _inside_the_folder(name: str) -> str:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise ValueError("must name a file inside the model folder")
    return name


FileName = Annotated[str, AfterValidator(_inside_the_folder)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)


class Prefixes(_Strict):
    """Words the model was trained to see before a text, including the blank."""

    document: str = ""
    query: str = ""


class Manifest(_Strict):
    """Spec 03 §6. In the file the names are in camelCase."""

    name: str = Field(pattern=r"^[\w.-]+$")
    model: FileName
    variants: Mapping[str, FileName] = Field(default_factory=dict)  # other precisions of `model`
    variant: str | None = None  # the one that was loaded
    tokenizer: FileName = "tokenizer.json"
    rotation: FileName | None = None
    dimensions: int = Field(ge=1, le=65_536)
    tiers: tuple[int, ...] = ()
    normalize: bool = True
    # In the order token ids, attention mask, token types; a model that needs fewer names fewer.
    input_names: tuple[str, ...] = Field(("input_ids", "attention_mask", "token_type_ids"), min_length=1, max_length=3)
    output_name: str = "sentence_embedding"
    pooling: Pooling | None = None
    add_special_tokens: bool = True
    prefixes: Prefixes = Prefixes()
    max_tokens: int = Field(ge=16, le=1_048_576)  # what a query is cut to, special tokens included
    # What a document is read by, special tokens included, and what two neighbours share (spec 03 §7).
    window: int = Field(default_factory=lambda known: min(WINDOW, known["max_tokens"]), ge=16)
    overlap: int = Field(default_factory=lambda known: known["window"] // 2, ge=0)

    @property
    def family(self) -> str:
        return self.name

    @model_validator(mode="after")
    def _check_windows(self) -> Self:
        if self.window > self.max_tokens:
            raise ValueError(f"window {self.window} is larger than maxTokens {self.max_tokens}")
        if self.overlap > self.window // 2:
            raise ValueError(f"overlap {self.overlap} is more than half the window {self.window}")
        return self

    @model_validator(mode="after")
    def _check_tiers(self) -> Self:
        if not self.tiers:
            return self
        if len(self.tiers) != TIERS or sorted(set(self.tiers)) != list(self.tiers) or self.tiers[0] < 1:
            raise ValueError(f"tiers {self.tiers} must be three growing prefix lengths, or none")
        if self.tiers[-1] != self.dimensions:
            raise ValueError(f"the last tier {self.tiers[-1]} must be all {self.dimensions} dimensions")
        return self

    def with_variant(self, variant: str) -> Self:
        """The manifest of one precision. A folder with a single model has no choice to offer, so any is granted."""
        if not self.variants:
            return self
        if variant not in self.variants:
            raise Misconfigured(f"{self.name} has no variant {variant!r}; it has {', '.join(sorted(self.variants))}")
        return self.model_copy(update={"model": self.variants[variant], "variant": variant})


def read_manifest(folder: Path) -> Manifest:
    """Raises Misconfigured if the file is missing or says something impossible."""
    path = folder / MANIFEST_FILE
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise Misconfigured(f"no model at {folder}: {MANIFEST_FILE} is missing") from None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise Misconfigured(f"{path}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    detail = error.errors()[0]
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}" if place else detail["msg"]
