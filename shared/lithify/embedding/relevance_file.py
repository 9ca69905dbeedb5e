"""`relevance.json`: what a model's cosines tell of the chance that a memory helps, and where that was learned."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lithify.embedding.contract import Embedder
from lithify.embedding.hash_embedder import HASH_PROFILE
from lithify.embedding.manifest import assets_folder
from lithify.errors import Misconfigured
from lithify.memory.ranking.helpfulness import WORDS_CALIBRATION, Calibration

RELEVANCE_FILE: Final = "relevance.json"


class FittedData(BaseModel):
    """Names a set of conversations and how many of its questions were asked: of their own memory, and of others'."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    sha256: str
    own: int
    foreign: int


class RelevanceFile(BaseModel):
    """Holds for one family of vectors only: the cosines of another model have another level."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    family: str
    answerable: tuple[float, float, float, float]
    helpful: tuple[float, float, float]
    data: tuple[FittedData, ...] = ()

    def calibration(self) -> Calibration:
        return Calibration(self.answerable, self.helpful)


def read_relevance(folder: Path) -> RelevanceFile | None:
    """Reads the file of a folder; None if there is none. Raises Misconfigured for a file of another content."""
    path = folder / RELEVANCE_FILE
    try:
        return RelevanceFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise Misconfigured(f"{path} cannot be read; make it anew with `lithify eval fit`: {error}") from error


def find_calibration(embedder: Embedder, models_dir: Path) -> Calibration | None:
    """Returns what was fitted for this very model, here or by us; None if nobody did: then no memory is too weak.

    The hash fallback is blind to meaning, so that its memories are judged by their words.
    """
    if embedder.manifest.name == HASH_PROFILE:
        return WORDS_CALIBRATION
    for folder in (models_dir / embedder.manifest.name, assets_folder() / embedder.manifest.name):
        found = read_relevance(folder)
        if found is not None and found.family == embedder.manifest.family:
            return found.calibration()
    return None
