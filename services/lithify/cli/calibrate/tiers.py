"""`lithify calibrate tiers`: derives the exit thresholds of the model's tiers and writes them with their evidence."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from lithify.cli.calibrate.tier_data import TierData, embed_dataset
from lithify.cli.console import data, emit_json, talk
from lithify.embedding import Embedder, load_configured_embedder
from lithify.embedding.tier_calibration import TIERS_FILE, TierCalibration, TierFit
from lithify.errors import Invalid
from lithify.memory.vectors.calibration import fit_threshold, sample_tier
from lithify.settings import load_settings
from lithify.store.cascade import OVERSAMPLING

LIMIT: Final = 10
# Above the 0.97 a cascade must keep: the next questions are not these.
TARGET: Final = 0.98


def tiers(
    source: Annotated[Path, typer.Option("--data", exists=True, help="Texts and questions: a prepared benchmark.")],
    target: Annotated[float, typer.Option(help="Share of the full answer an exit must keep.", min=0.5, max=1)] = TARGET,
    out: Annotated[Path | None, typer.Option(help="File to write; beside the built model if unset.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the calibration as JSON.")] = False,
) -> None:
    """Derive from data how similar the best hit of a short prefix must be for the search to end there."""
    settings = load_settings()
    embedder = load_configured_embedder(settings)
    calibration = calibrate(embedder, embed_dataset(source, embedder), target)
    path = out or settings.models_dir / settings.embedding_profile / TIERS_FILE
    path.write_text(calibration.model_dump_json(indent=2) + "\n")
    talk.print(f"written to {path}", markup=False, soft_wrap=True)
    if as_json:
        emit_json(calibration.model_dump(mode="json"))
    else:
        data.print(calibration_table(calibration))


def calibrate(embedder: Embedder, material: TierData, target: float) -> TierCalibration:
    """Fits a threshold for every shorter tier. Raises Invalid for a model without: there is nothing to exit from."""
    manifest = embedder.manifest
    if not manifest.tiers:
        raise Invalid(f"{manifest.name} has no prefix tiers; every search is a full one")
    return TierCalibration(
        fingerprint=embedder.fingerprint,
        dimensions=manifest.dimensions,
        tiers=tuple(fit_tier(material, dims, target) for dims in manifest.tiers[:-1]),
        target=target,
        limit=LIMIT,
        oversampling=OVERSAMPLING,
        data=material.name,
        data_sha256=material.sha256,
        documents=material.documents,
        questions=material.questions,
    )


def fit_tier(material: TierData, dims: int, target: float) -> TierFit:
    samples = [
        sample
        for group in material.groups
        for sample in sample_tier(group.documents, group.questions, dims=dims, limit=LIMIT, depth=LIMIT * OVERSAMPLING)
    ]
    return TierFit(dims=dims, **asdict(fit_threshold(samples, target)))


def calibration_table(calibration: TierCalibration) -> Table:
    grid = Table("tier", "threshold", "exits", "overlap", "poor ones that exit")
    for tier in calibration.tiers:
        overlap = "–" if tier.overlap is None else f"{tier.overlap:.3f}"
        grid.add_row(
            str(tier.dims), f"{tier.threshold:.3f}", f"{tier.exits:.0%}", overlap, f"{tier.false_positives:.0%}"
        )
    return grid
