"""Puts a finished model folder into place, so that nobody ever sees half a model."""

import fcntl
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lithify.embedding.manifest import read_manifest
from lithify.errors import LithifyError, Misconfigured

RECIPE_FILE = "recipe"

Writer = Callable[[Path], None]


def install(models_dir: Path, profile: str, recipe: str, write: Writer) -> bool:
    """Has `write` fill an empty folder, then moves it to `models_dir/profile`; False if that was there already.

    `recipe` names everything the files depend on: an equal one means nothing is to be done. A second builder waits
    for the first. Raises LithifyError if the disk is full or the folder cannot be written.
    """
    try:
        with _locked(models_dir, profile):
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
        fresh, old, final = Path(scratch, "new"), Path(scratch, "old"), models_dir / profile
        fresh.mkdir()
        write(fresh)
        (fresh / RECIPE_FILE).write_text(recipe)
        if final.exists():
            final.rename(old)
        fresh.rename(final)


@contextmanager
def _locked(models_dir: Path, profile: str) -> Iterator[None]:
    models_dir.mkdir(parents=True, exist_ok=True)
    with (models_dir / f".{profile}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def copy_assets(assets: Path, folder: Path, *names: str) -> None:
    for name in names:
        shutil.copyfile(assets / name, folder / name)
