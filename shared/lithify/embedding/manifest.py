"""A model folder: its `embedding.json`, the name of its vector space, and the folders that ship with Lithify.

The manifest is all that must be known about a folder to get the right vectors out of it. The fingerprint is a hash of
everything that decides what these vectors are (spec 03 §8).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from lithify.errors import Misconfigured
from lithify.memory.vectors.background import USUAL_BACKGROUND, Background
from lithify.memory.vectors.tiers import WINDOW

MANIFEST_FILE = "embedding.json"
TIERS = 3

_INSTALLED = Path(__file__).parent / "profiles"  # in a wheel
_CHECKOUT = Path(__file__).parents[3] / "models"  # in the source tree

# File names, the list of the variants not loaded, and what was measured may change without changing a vector (X19).
NOT_OF_THE_SPACE = frozenset({"model", "variants", "variant", "tokenizer", "rotation", "background", "multilingual"})

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
    """Holds words the model was trained to see before a text, including the blank."""

    document: str = ""
    query: str = ""


class Manifest(_Strict):
    """Describes a model as `embedding.json` does (spec 03 §6); in the file the names are in camelCase."""

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
    multilingual: bool = False  # whether it reads more than English; for others, words tell more than meaning
    background: Background = (
        USUAL_BACKGROUND  # what unrelated texts score; measured at loading where the file is silent
    )

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
        """Returns the manifest of one precision; a folder with a single model has no choice to offer and grants any.

        Raises Misconfigured for a variant that the folder lacks.
        """
        if not self.variants:
            return self
        if variant not in self.variants:
            raise Misconfigured(f"{self.name} has no variant {variant!r}; it has {', '.join(sorted(self.variants))}")
        return self.model_copy(update={"model": self.variants[variant], "variant": variant})


def read_manifest(folder: Path) -> Manifest:
    """Reads the manifest of a folder. Raises Misconfigured if it is missing or says something impossible."""
    path = folder / MANIFEST_FILE
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise Misconfigured(f"no model at {folder}: {MANIFEST_FILE} is missing") from None
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise Misconfigured(f"{path}: {_describe(error)}") from None


def _describe(error: ValidationError) -> str:
    detail = error.errors()[0]
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}" if place else detail["msg"]


def content_fingerprint(manifest: Manifest, folder: Path) -> str:
    """Returns a hex sha256 over the settings and the content of model, tokenizer and rotation, wherever they lie."""
    digest = hashlib.sha256(settings_digest(manifest))
    for path in _model_files(manifest, folder):
        digest.update(file_digest(path))
    return digest.hexdigest()


def settings_digest(manifest: Manifest) -> bytes:
    """Hashes settings other than the defaults: a later version that adds one keeps the old fingerprints."""
    settings = manifest.model_dump(mode="json", exclude=set(NOT_OF_THE_SPACE), exclude_defaults=True)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def file_digest(path: Path) -> bytes:
    """Returns the sha256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _model_files(manifest: Manifest, folder: Path) -> Iterable[Path]:
    model = folder / manifest.model
    yield model
    # Large models keep their weights beside the graph, as model.onnx_data or model.onnx.data.
    yield from sorted(path for path in model.parent.iterdir() if path.name.startswith(model.name) and path != model)
    yield folder / manifest.tokenizer
    if manifest.rotation is not None:
        yield folder / manifest.rotation


def assets_folder() -> Path:
    """Returns the folder of the small files that ship with each profile: manifest, rotation, reference, checksums."""
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def shipped_profiles() -> list[str]:
    """Returns the names of the profiles that Lithify can make itself."""
    return sorted(path.parent.name for path in assets_folder().glob(f"*/{MANIFEST_FILE}"))


def profile_assets(profile: str) -> Path:
    """Returns the shipped files of a profile. Raises Misconfigured if there is no such profile."""
    folder = assets_folder() / profile
    if not (folder / MANIFEST_FILE).is_file():
        raise Misconfigured(f"{profile!r} is not a profile of Lithify; it has {', '.join(shipped_profiles())}")
    return folder
