"""Compares a freshly written model with its reference and puts it into place: nobody ever sees half a model."""

import json
import math
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lithify.embedding.contract import Vectors
from lithify.embedding.manifest import Manifest, read_manifest
from lithify.embedding.onnx_embedder import OnnxEmbedder
from lithify.errors import LithifyError, Misconfigured
from lithify.locks import FileLock

RECIPE_FILE = "recipe"
REFERENCE_TEXTS = "reference.json"
REFERENCE_VECTORS = "reference.npy"

# The least cosine with the reference a variant may show. Float32 differs by rounding only; what bytes cost
# in recall at this distance is in docs/models.md.
LEAST_COSINE = {"fp32": 0.99999, "int8": 0.975}

# Of the embedder that is compared with the reference.
THREADS = 2
BATCH_TOKENS = 512

Writer = Callable[[Path], None]


def install(models_dir: Path, profile: str, recipe: str, write: Writer) -> bool:
    """Has `write` fill an empty folder, then moves it to `models_dir/profile`; False if that was there already.

    `recipe` names everything the files depend on: an equal one means nothing is to be done. A second builder waits
    for the first. Raises LithifyError if the disk is full or the folder cannot be written.
    """
    try:
        with _building(models_dir, profile):
            if is_installed(models_dir / profile, recipe):
                return False
            _replace(models_dir, profile, recipe, write)
            return True
    except OSError as error:
        raise LithifyError(f"the model cannot be written to {models_dir}: {error}") from error


def is_installed(folder: Path, recipe: str) -> bool:
    """True if the folder was written by this recipe and no file of it is missing."""
    marker = folder / RECIPE_FILE
    if not marker.is_file() or marker.read_text() != recipe:
        return False
    try:
        manifest = read_manifest(folder)
    except Misconfigured:
        return False
    names = [manifest.model, manifest.tokenizer, *manifest.variants.values(), manifest.rotation]
    return all((folder / name).is_file() for name in names if name is not None)


def _replace(models_dir: Path, profile: str, recipe: str, write: Writer) -> None:
    # In the same folder, for a rename does not cross file systems.
    with tempfile.TemporaryDirectory(prefix=f".{profile}-", dir=models_dir) as scratch:
        fresh = Path(scratch, "new")
        final = models_dir / profile
        fresh.mkdir()
        write(fresh)
        (fresh / RECIPE_FILE).write_text(recipe)
        if final.exists():
            final.rename(Path(scratch, "old"))
        fresh.rename(final)


@contextmanager
def _building(models_dir: Path, profile: str) -> Iterator[None]:
    """Holds the lock of a profile; waits for another builder as long as it takes, for it ends with its process."""
    models_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(models_dir / f".{profile}.lock")
    lock.acquire(patience_s=math.inf)
    try:
        yield
    finally:
        lock.let_go()


def copy_assets(assets: Path, folder: Path, *names: str) -> None:
    """Copies shipped files into a folder that is being written."""
    for name in names:
        shutil.copyfile(assets / name, folder / name)


@dataclass(frozen=True, slots=True)
class Reference:
    """Holds texts and their vectors, before any rotation; documents come first, then queries."""

    documents: list[str]
    queries: list[str]
    vectors: Vectors


def read_reference(assets: Path) -> Reference:
    """Reads the texts and vectors that other software computed from the same weights."""
    texts = json.loads((assets / REFERENCE_TEXTS).read_text())
    return Reference(texts["documents"], texts["queries"], np.load(assets / REFERENCE_VECTORS))


def verify_variants(folder: Path, manifest: Manifest, reference: Reference) -> dict[str, float]:
    """Returns the least cosine of each variant. Raises LithifyError if one is worse than it may be."""
    cosines = {
        variant: least_cosine(folder, manifest.with_variant(variant), reference) for variant in manifest.variants
    }
    for variant, cosine in cosines.items():
        if not cosine >= LEAST_COSINE[variant]:
            raise LithifyError(
                f"{manifest.name} {variant} was written wrongly: its vectors agree with the reference to {cosine:.5f} "
                f"only, {LEAST_COSINE[variant]} is expected"
            )
    return cosines


def least_cosine(folder: Path, manifest: Manifest, reference: Reference) -> float:
    unrotated = manifest.model_copy(update={"rotation": None})
    embedder = OnnxEmbedder(folder, unrotated, "primary", threads=THREADS, batch_tokens=BATCH_TOKENS)
    documents = embedder.embed_documents(reference.documents)
    queries = [embedder.embed_query(text) for text in reference.queries]
    return float(np.einsum("ij,ij->i", np.vstack([documents, *queries]), reference.vectors).min())
