"""Thresholds belong to the very model they were derived for; without them every search is a full one."""

from pathlib import Path

import pytest

from lithify.embedding import Embedder, HashEmbedder
from lithify.embedding.manifest import assets_folder
from lithify.embedding.tier_calibration import (
    TIERS_FILE,
    TierCalibration,
    TierFit,
    calibrated_cascade,
    read_calibration,
)
from lithify.errors import Misconfigured
from lithify.memory.vectors.cascade import Cascade

MODEL = HashEmbedder(32, (8, 16, 32))


def calibration(fingerprint: str) -> TierCalibration:
    fits = ((8, 0.7), (16, 0.6))
    tiers = tuple(TierFit(dims=d, threshold=t, exits=0.5, overlap=0.99, false_positives=0) for d, t in fits)
    return TierCalibration(
        fingerprint=fingerprint,
        dimensions=32,
        tiers=tiers,
        target=0.98,
        limit=10,
        oversampling=8,
        data="words",
        data_sha256="0" * 64,
        documents=3,
        questions=2,
    )


def written(models_dir: Path, content: str) -> Path:
    folder = models_dir / MODEL.manifest.name
    folder.mkdir()
    (folder / TIERS_FILE).write_text(content)
    return models_dir


def test_a_calibrated_model_is_searched_by_its_thresholds(tmp_path: Path) -> None:
    made = calibration(MODEL.fingerprint)
    assert calibrated_cascade(MODEL, written(tmp_path, made.model_dump_json())) == Cascade((8, 16, 32), (0.7, 0.6))
    assert read_calibration(tmp_path / MODEL.manifest.name) == made


def test_a_first_tier_that_nothing_exits_from_is_not_searched() -> None:
    made = calibration(MODEL.fingerprint)
    never = made.tiers[0].model_copy(update={"threshold": 1.0, "exits": 0.0, "overlap": None})
    cascade = made.model_copy(update={"tiers": (never, made.tiers[1])}).cascade()
    assert (cascade.dims, cascade.names, cascade.thresholds) == ((16, 32), ("l2", "l3"), (0.6,))


@pytest.mark.parametrize("content", [None, calibration("of another model").model_dump_json()], ids=["none", "foreign"])
def test_a_model_without_thresholds_of_its_own_is_searched_in_full(tmp_path: Path, content: str | None) -> None:
    models_dir = tmp_path if content is None else written(tmp_path, content)
    assert calibrated_cascade(MODEL, models_dir) == Cascade((32,), ())


def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"tiers\.json cannot be read.*lithify calibrate tiers"):
        calibrated_cascade(MODEL, written(tmp_path, "{}"))


def test_the_shipped_thresholds_are_those_of_the_default_model(default_model: Embedder, tmp_path: Path) -> None:
    shipped = read_calibration(assets_folder() / default_model.manifest.name)
    assert shipped is not None
    assert calibrated_cascade(default_model, tmp_path) == shipped.cascade()
    ending = [tier for tier in shipped.tiers if tier.exits > 0]
    assert ending
    assert all(tier.overlap is not None and tier.overlap >= shipped.target for tier in ending)
