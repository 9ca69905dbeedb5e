"""`tiers.json`: the exit thresholds of one model's tiers, together with the evidence they rest on (spec 03 §5)."""

from itertools import dropwhile
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lithify.embedding.contract import Embedder
from lithify.embedding.manifest import assets_folder
from lithify.errors import Misconfigured
from lithify.memory.vectors.cascade import Cascade

TIERS_FILE: Final = "tiers.json"


class TierFit(BaseModel):
    """Holds shares of one tier: all questions that exit there, the full answer they keep, and poor ones that exit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dims: int
    threshold: float
    exits: float
    overlap: float | None
    false_positives: float


class TierCalibration(BaseModel):
    """Holds for one fingerprint only: thresholds of another model, or precision, mean nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fingerprint: str
    dimensions: int
    tiers: tuple[TierFit, ...]
    target: float
    limit: int
    oversampling: int
    data: str
    data_sha256: str
    documents: int
    questions: int

    def cascade(self) -> Cascade:
        """Returns the tiers to search; short ones that no question may exit from would only cost time."""
        asked = tuple(dropwhile(lambda tier: tier.exits == 0, self.tiers))
        sizes = tuple(tier.dims for tier in asked)
        return Cascade((*sizes, self.dimensions), tuple(tier.threshold for tier in asked))


def read_calibration(folder: Path) -> TierCalibration | None:
    """Reads the calibration of a folder; None if there is none. Raises Misconfigured for a file of another content."""
    path = folder / TIERS_FILE
    try:
        return TierCalibration.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise Misconfigured(f"{path} cannot be read; make it anew with `lithify calibrate tiers`: {error}") from error


def calibrated_cascade(embedder: Embedder, models_dir: Path) -> Cascade:
    """Returns the cascade calibrated for this very model, here or by us; without one, every search is a full one."""
    name = embedder.manifest.name
    for folder in (models_dir / name, assets_folder() / name):
        calibration = read_calibration(folder)
        if calibration is not None and calibration.fingerprint == embedder.fingerprint:
            return calibration.cascade()
    return Cascade((embedder.manifest.dimensions,), ())
