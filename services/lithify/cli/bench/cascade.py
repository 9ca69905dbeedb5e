"""`lithify bench cascade`: short prefixes first against full search, in agreement and in time, on Qdrant Edge."""

import asyncio
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.table import Table

from lithify.cli.calibrate.tier_data import TierData, TierGroup, embed_dataset, make_synthetic_data
from lithify.cli.console import data, emit_json
from lithify.cli.progress import count_items
from lithify.embedding import load_configured_embedder
from lithify.embedding.tier_calibration import calibrated_cascade
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.memory.vectors.cascade import Cascade
from lithify.memory.vectors.tiers import FULL_TIER, tier_vectors
from lithify.settings import load_settings
from lithify.store import TIER_NAMES, CollectionSpec, EdgeStore, Record, Where, point_id
from lithify.store.cascade import CascadeAnswer, complete_tiers, search_cascade

TENANT: Final = "bench"
BATCH: Final = 256
LIMIT: Final = 10
TEXT: Final = "a turn of ordinary length, as people write them to their agents " * 2


@dataclass(slots=True)
class CascadeTally:
    """Collects what was seen of all questions so far; times in seconds."""

    overlaps: list[float] = field(default_factory=list)
    exits: Counter[str] = field(default_factory=Counter)
    full_s: list[float] = field(default_factory=list)
    cascade_s: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CascadeReport:
    """`time_saved` is negative where the cascade takes longer."""

    data: str
    data_sha256: str
    documents: int
    questions: int
    thresholds: tuple[float, ...]
    overlap: float
    exits: dict[str, float]
    full_p50_ms: float
    full_p95_ms: float
    cascade_p50_ms: float
    cascade_p95_ms: float
    time_saved: float


def cascade(
    source: Annotated[Path | None, typer.Option("--data", exists=True, help="A prepared benchmark.")] = None,
    points: Annotated[int, typer.Option(min=BATCH, help="Random records instead, if there is no --data.")] = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How far the calibrated cascade agrees with full search, how often it ends early, and what time it saves."""
    settings = load_settings()
    embedder = load_configured_embedder(settings)
    steps = calibrated_cascade(embedder, settings.models_dir)
    if not steps.lower:
        raise Invalid(f"{embedder.manifest.name} is not calibrated; run `lithify calibrate tiers` first")
    material = embed_dataset(source, embedder) if source else make_synthetic_data(points, embedder.manifest.dimensions)
    report = asyncio.run(measure(material, steps))
    if as_json:
        emit_json(asdict(report))
    else:
        data.print(report_table(report))


async def measure(material: TierData, steps: Cascade) -> CascadeReport:
    with tempfile.TemporaryDirectory(prefix="lithify-bench-") as folder:
        store = EdgeStore(Path(folder))
        tally = CascadeTally()
        try:
            low, middle, full = steps.dims
            await store.ensure(CollectionSpec(TENANT, (low, middle, full), TENANT))
            for group in material.groups:
                await fill(store, group, steps)
            for group in material.groups:
                await compare(store, group, steps, tally)
        finally:
            await store.close()
    return make_report(material, steps, tally)


async def fill(store: EdgeStore, group: TierGroup, steps: Cascade) -> None:
    with count_items(f"storing {group.name}", len(group.documents)) as advance:
        for start in range(0, len(group.documents), BATCH):
            tiers = tier_vectors(group.documents[start : start + BATCH], steps.dims)
            records = [
                make_record(group.name, start + n, dict(zip(TIER_NAMES, rows, strict=True)))
                for n, rows in enumerate(zip(*tiers, strict=True))
            ]
            await store.upsert(TenantScope(TENANT), TENANT, records)
            advance(len(records))


def make_record(user: str, number: int, vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> Record:
    payload = {"tenant": TENANT, "user": user, "kind": "turn", "event_id": f"{user}-{number}", "text": TEXT}
    return Record(point_id(TENANT, "turn", payload["event_id"], TENANT), payload, vectors)


async def compare(store: EdgeStore, group: TierGroup, steps: Cascade, tally: CascadeTally) -> None:
    """Asks every question both ways and in turns, so that neither profits from the other's warm memory."""
    full = Cascade(steps.dims[-1:], ())
    for number, question in enumerate(group.questions):
        ways = (full, steps) if number % 2 else (steps, full)
        answers = {way: await search_timed(store, group.name, question, way) for way in ways}
        (truth, full_s), (found, cascade_s) = answers[full], answers[steps]
        ids = {hit.id for hit in truth.hits}
        tally.overlaps.append(len(ids & {hit.id for hit in found.hits}) / len(ids))
        tally.exits[found.trace[-1].tier] += 1
        tally.full_s.append(full_s)
        tally.cascade_s.append(cascade_s)


async def search_timed(
    store: EdgeStore, user: str, question: np.ndarray[tuple[int], np.dtype[np.float32]], steps: Cascade
) -> tuple[CascadeAnswer, float]:
    """Searches and returns the seconds, with what it takes to know that the tiers are complete."""
    scope = TenantScope(TENANT, user)
    where = Where()
    started = time.perf_counter()
    usable = await complete_tiers(store, scope, collection=TENANT, where=where, cascade=steps)
    answer = await search_cascade(
        store, scope, collection=TENANT, where=where, vector=question, limit=LIMIT, cascade=steps, usable=usable
    )
    return answer, time.perf_counter() - started


def make_report(material: TierData, steps: Cascade, tally: CascadeTally) -> CascadeReport:
    asked = len(tally.overlaps)
    full = np.array(tally.full_s) * 1000
    ours = np.array(tally.cascade_s) * 1000
    return CascadeReport(
        data=material.name,
        data_sha256=material.sha256,
        documents=material.documents,
        questions=asked,
        thresholds=steps.thresholds,
        overlap=float(np.mean(tally.overlaps)),
        exits={tier: tally.exits[tier] / asked for tier in (*steps.lower, FULL_TIER)},
        full_p50_ms=float(np.percentile(full, 50)),
        full_p95_ms=float(np.percentile(full, 95)),
        cascade_p50_ms=float(np.percentile(ours, 50)),
        cascade_p95_ms=float(np.percentile(ours, 95)),
        time_saved=float(1 - ours.mean() / full.mean()),
    )


def report_table(report: CascadeReport) -> Table:
    exits = ", ".join(f"{tier} {share:.0%}" for tier, share in report.exits.items())
    grid = Table("", report.data, title=f"{report.documents:,} records, {report.questions} questions")
    grid.add_row("top-10 overlap with full search", f"{report.overlap:.3f}")
    grid.add_row("answered by", exits)
    grid.add_row("full search p50 / p95", f"{report.full_p50_ms:.2f} / {report.full_p95_ms:.2f} ms")
    grid.add_row("cascade p50 / p95", f"{report.cascade_p50_ms:.2f} / {report.cascade_p95_ms:.2f} ms")
    grid.add_row("time saved", f"{report.time_saved:.0%}")
    return grid
