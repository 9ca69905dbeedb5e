"""The name of a vector space: a hash of everything that decides what its vectors are (spec 03 §8)."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from lithify.embedding.manifest import Manifest

# File names and the list of the variants not loaded may change without changing a vector (X19).
NAMES_ONLY = frozenset({"model", "variants", "variant", "tokenizer", "rotation"})


def content_fingerprint(manifest: Manifest, folder: Path) -> str:
    """Hex sha256 over the settings and the content of model, tokenizer and rotation, wherever they lie."""
    digest = hashlib.sha256(settings_digest(manifest))
    for path in _files(manifest, folder):
        digest.update(file_digest(path))
    return digest.hexdigest()


def settings_digest(manifest: Manifest) -> bytes:
    """Settings left at their default are not hashed: a later version that adds one keeps the old fingerprints."""
    settings = manifest.model_dump(mode="json", exclude=set(NAMES_ONLY), exclude_defaults=True)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).digest()


def file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _files(manifest: Manifest, folder: Path) -> Iterable[Path]:
    model = folder / manifest.model
    yield model
    # Large models keep their weights beside the graph, as model.onnx_data or model.onnx.data.
    yield from sorted(path for path in model.parent.iterdir() if path.name.startswith(model.name) and path != model)
    yield folder / manifest.tokenizer
    if manifest.rotation is not None:
        yield folder / manifest.rotation
