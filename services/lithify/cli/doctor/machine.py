"""The doctor's look at this machine: versions, settings, disk, the model, and the vectors made with it."""

import asyncio
import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

from lithify.cli.doctor import Finding
from lithify.embedding import load_configured_embedder
from lithify.errors import LithifyError
from lithify.node.parts import connect_store
from lithify.node.stored_model import choose_stored_model, is_kept
from lithify.settings import Settings, unknown_variables
from lithify.store import CollectionSpec, StoreHealth, VectorStore
from lithify.store.catalogue import read_catalogue
from lithify.store.memory_record import COLLECTION

MIN_FREE_BYTES: Final = 2 * 2**30
# What a fault in the field most often depends on.
ENGINES: Final = ("onnxruntime", "qdrant-edge-py", "qdrant-client", "redis", "rq")


def check_versions(_: Settings) -> Iterator[Finding]:
    engines = ", ".join(f"{name} {version(name)}" for name in ENGINES)
    yield Finding("versions", True, f"lithify {version('lithify')}, Python {platform.python_version()}, {engines}")


def check_variables(_: Settings) -> Iterator[Finding]:
    unknown = unknown_variables(os.environ)
    detail = f"no such setting: {', '.join(unknown)}" if unknown else "all known and valid"
    yield Finding("settings", not unknown, detail)


def check_disk(settings: Settings) -> Iterator[Finding]:
    folder = existing_parent(settings.data_dir)
    if not os.access(folder, os.W_OK):
        yield Finding("data folder", False, f"{folder} is not writable; set LITHIFY_DATA_DIR to one that is")
        return
    free = shutil.disk_usage(folder).free
    enough = free >= MIN_FREE_BYTES
    advice = "" if enough else f"; make room, {MIN_FREE_BYTES / 2**30:.0f} GiB are the least"
    yield Finding("data folder", enough, f"{settings.data_dir}, {free / 2**30:.1f} GiB free{advice}")


def existing_parent(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())


def check_model(settings: Settings) -> Iterator[Finding]:
    """Looks at the model that a node with these settings runs, which may be that of the memories it has."""
    try:
        chosen = choose_stored_model(settings, look_at_store(settings)[1])
        embedder = load_configured_embedder(chosen, threads=1)
    except LithifyError as error:
        yield Finding("model", False, str(error))
        return
    manifest = embedder.manifest
    health = embedder.health()
    tiers = f"tiers {' '.join(map(str, manifest.tiers))}" if manifest.tiers else "no tiers"
    hashed = f"content {embedder.fingerprint[:12]}"
    kept = "; kept, the memories were made with it: `lithify reembed` moves them" if is_kept(settings, chosen) else ""
    described = f"{manifest.name} ({health.mode}), {manifest.dimensions} d, {tiers}, {hashed}{kept}"
    yield Finding("model", health.ready, described)


def check_vectors(settings: Settings) -> Iterator[Finding]:
    """Looks whether the store's vectors are of the configured model: two models' vectors cannot be compared."""
    try:
        health, specs = look_at_store(settings)
        embedder = load_configured_embedder(choose_stored_model(settings, specs), threads=1)
    except LithifyError as error:
        yield Finding("store", False, str(error))
        return
    words = " ".join(part for part in (health.engine, health.version, health.reason) if part)
    yield Finding("store", health.ready, words)
    yield check_fingerprint(specs, embedder.fingerprint)


def check_fingerprint(specs: Sequence[CollectionSpec], fingerprint: str) -> Finding:
    stored = next((spec for spec in specs if spec.name == COLLECTION), None)
    if stored is None:
        return Finding("vectors", True, "none stored yet")
    if stored.fingerprint != fingerprint:
        advice = "configure that model again, or run `lithify reembed`"
        return Finding("vectors", False, f"made by model content {stored.fingerprint[:12]}, not this one; {advice}")
    return Finding("vectors", True, f"of this model, tiers {' '.join(map(str, stored.tiers))}")


def look_at_store(settings: Settings) -> tuple[StoreHealth, Sequence[CollectionSpec]]:
    """Reads what the store holds; an Edge folder without opening the engine, which a running node holds."""
    if settings.qdrant_url is None:
        folder = settings.data_dir / "vectors"
        entries = read_catalogue(folder)
        health = StoreHealth("Qdrant Edge", ready=True, version=version("qdrant-edge-py"))
        return health, [entry.spec(name) for name, entry in entries.items()]
    return asyncio.run(_ask_server(connect_store(settings)))


async def _ask_server(store: VectorStore) -> tuple[StoreHealth, Sequence[CollectionSpec]]:
    try:
        health = await store.health()
        return health, await store.collections() if health.ready else []
    finally:
        await store.close()
