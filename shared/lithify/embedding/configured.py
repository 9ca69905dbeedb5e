"""Opens the embedder that the settings describe, in the same way for every process and command."""

from pathlib import Path

from lithify.embedding.contract import Embedder, Mode
from lithify.embedding.hash_embedder import HASH_PROFILE, HashEmbedder
from lithify.embedding.manifest import (
    MANIFEST_FILE,
    assets_folder,
    content_fingerprint,
    read_manifest,
    shipped_profiles,
)
from lithify.embedding.onnx_embedder import OnnxEmbedder
from lithify.embedding.tier_calibration import read_calibration
from lithify.errors import Misconfigured
from lithify.settings import Settings, resolve_embedding_name

DEFAULT_VARIANT = "int8"
HASH_SHAPE = (384, (64, 128, 384))  # as the default profile, so that it can stand in for it
# Measured on two cores: a text costs more time in a larger batch, at 8192 tokens 1.8 times as much (docs/models.md).
BATCH_TOKENS = 512


def load_configured_embedder(settings: Settings, *, threads: int | None = None) -> Embedder:
    """Loads the configured profile and variant; `threads` replaces the configured number of one call.

    Raises Misconfigured, with what to run, if the model is missing or broken.
    """
    return load_embedder(
        settings.models_dir,
        settings.embedding_profile,
        variant=settings.embedding_variant,
        threads=settings.threads if threads is None else threads,
        batch_tokens=settings.embed_batch_tokens,
    )


def load_embedder(
    models_dir: Path,
    profile: str,
    *,
    variant: str = DEFAULT_VARIANT,
    threads: int,
    batch_tokens: int = BATCH_TOKENS,
) -> Embedder:
    """Loads and probes the embedder in `models_dir/profile`. Profile `hash` needs no model and is never healthy.

    `threads` is for one call (0: one per core), `batch_tokens` what goes through the model at once, padding included.
    Raises Misconfigured, with what to run, if the folder is missing or broken.
    """
    profile = resolve_embedding_name(profile)
    if profile == HASH_PROFILE:
        return HashEmbedder(*HASH_SHAPE)
    folder = models_dir / profile
    if not (folder / MANIFEST_FILE).is_file():
        raise Misconfigured(f"no embedding model in {folder}; {how_to_get(profile)}")
    manifest = read_manifest(folder).with_variant(variant)
    missing = [name for name in (manifest.model, manifest.tokenizer) if not (folder / name).is_file()]
    if missing:
        raise Misconfigured(f"the embedding model in {folder} lacks {missing[0]}; {how_to_get(profile)}")
    mode: Mode = "primary" if profile in shipped_profiles() else "onnx-local"
    return OnnxEmbedder(folder, manifest, mode, threads=threads, batch_tokens=batch_tokens)


def find_profile(models_dir: Path, variant: str, fingerprint: str) -> str | None:
    """Returns the name of the folder whose model makes vectors of this fingerprint; None if there is none.

    Nothing is loaded, but the files of every model are read through until one fits.
    """
    for path in sorted(models_dir.glob(f"*/{MANIFEST_FILE}")):
        try:
            manifest = read_manifest(path.parent).with_variant(variant)
            found = content_fingerprint(manifest, path.parent)
        except (Misconfigured, OSError):
            continue  # a folder that cannot be used has filled no store
        if found == fingerprint:
            return path.parent.name
    return None


def find_shipped_origin(fingerprint: str) -> str | None:
    """Returns the profile of Lithify whose default variant makes vectors of this fingerprint, installed or not."""
    calibrations = {name: read_calibration(assets_folder() / name) for name in shipped_profiles()}
    return next((name for name, one in calibrations.items() if one and one.fingerprint == fingerprint), None)


def default_profile() -> str:
    """Returns the profile of a node whose settings name none."""
    return str(Settings.model_fields["embedding_profile"].default)


def how_to_get(profile: str) -> str:
    """Says what to run to have a profile; the hint of every message about a missing one."""
    if profile not in shipped_profiles():
        return f"put a model with its {MANIFEST_FILE} there (docs/models.md), or name another profile"
    if profile == "nomic-embed-text-v1.5":
        return f"run `lithify models pull --profile {profile}` or `lithify models import FILE.gguf`"
    chosen = "" if profile == default_profile() else f" --profile {profile}"
    return f"run `lithify models build{chosen}`"
