"""The list of an Edge folder's collections: which records each name points to. Replacing the file is the commit."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from lithify.errors import Misconfigured
from lithify.store.contract import CollectionSpec

FILE: Final = "collections.json"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    folder: str
    tiers: tuple[int, int, int]
    fingerprint: str
    # Whether its files still hold what was to be erased from them.
    stale: bool = False

    def spec(self, name: str) -> CollectionSpec:
        return CollectionSpec(name, self.tiers, self.fingerprint)


def open_catalogue(folder: Path) -> dict[str, CatalogueEntry]:
    """Reads the catalogue.

    In a fresh folder it is made at once, so that a lost one is told from one not yet written.
    """
    if not (folder / FILE).exists():
        if any(path.is_dir() for path in folder.glob("*~*")):
            raise Misconfigured(f"{folder} holds records but has lost its {FILE}; restore it from a snapshot")
        write_catalogue(folder, {})
    return read_catalogue(folder)


def read_catalogue(folder: Path) -> dict[str, CatalogueEntry]:
    try:
        raw = orjson.loads((folder / FILE).read_bytes())
        return {name: _entry(entry) for name, entry in raw.items()}
    except FileNotFoundError:
        return {}
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise Misconfigured(f"{folder / FILE} is damaged ({error}); restore it from a snapshot") from error


def _entry(raw: Mapping[str, Any]) -> CatalogueEntry:
    return CatalogueEntry(raw["folder"], tuple(raw["tiers"]), raw["fingerprint"], stale=bool(raw.get("stale")))


def write_catalogue(folder: Path, entries: Mapping[str, CatalogueEntry]) -> None:
    fresh = folder / f"{FILE}.new"
    fresh.write_bytes(orjson.dumps({name: asdict(e) for name, e in entries.items()}, option=orjson.OPT_INDENT_2))
    sync(fresh)
    fresh.replace(folder / FILE)
    sync(folder)


def sync(path: Path) -> None:
    """Waits until a file or folder is on the disk, whoever wrote it; other threads go on meanwhile."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
