"""Finds the small files that ship with each profile: manifest, rotation, reference vectors, checksums."""

from pathlib import Path

from lithify.embedding.manifest import MANIFEST_FILE
from lithify.errors import Misconfigured

_INSTALLED = Path(__file__).parent / "profiles"  # in a wheel
_CHECKOUT = Path(__file__).parents[3] / "models"  # in the source tree


def assets_folder() -> Path:
    return _INSTALLED if _INSTALLED.is_dir() else _CHECKOUT


def shipped_profiles() -> list[str]:
    return sorted(path.parent.name for path in assets_folder().glob(f"*/{MANIFEST_FILE}"))


def profile_assets(profile: str) -> Path:
    folder = assets_folder() / profile
    if not (folder / MANIFEST_FILE).is_file():
        raise Misconfigured(f"{profile!r} is not a profile of Lithify; it has {', '.join(shipped_profiles())}")
    return folder
