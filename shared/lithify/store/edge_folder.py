"""The folder of an Edge store: its lock, its catalogue, and the collections open in it."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from lithify.errors import Invalid, Misconfigured, Unavailable
from lithify.locks import FileLock
from lithify.store.catalogue import CatalogueEntry, open_catalogue, read_catalogue, sync, write_catalogue
from lithify.store.checks import check_fit
from lithify.store.contract import CollectionSpec
from lithify.store.edge_collection import EdgeCollection
from lithify.store.edge_copy import EVERYTHING, GrowingCopy, Writable
from lithify.store.schema import place_of_records

LOCK: Final = "store.lock"
LEAVING: Final = "leaving"
"""A file in a folder of records that no name points to, or soon will not: it is removed when the store is opened."""


def take_lock(folder: Path) -> FileLock:
    """Locks an Edge folder for this process: the engine in it is not shared."""
    lock = FileLock(folder / LOCK)
    if not lock.acquire():
        holder = lock.signature()
        raise Misconfigured(
            f"the vector store in {folder} is in use by process {holder}; stop it, or choose another data folder"
        )
    return lock


class EdgeFolder:
    """Everything but `find_open` and `specs` belongs to the writing thread."""

    def __init__(self, path: Path) -> None:
        # Everything that was said is in its files.
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self._lock = take_lock(path)
        try:
            self._entries = open_catalogue(path)
            self._remove_leavings()
        except BaseException:
            self._lock.let_go()
            raise
        self._open: dict[str, EdgeCollection] = {}  # by the folder of their records
        self._copies: dict[str, GrowingCopy] = {}  # likewise
        self._closed = False

    def specs(self) -> list[CollectionSpec]:
        return [entry.spec(name) for name, entry in sorted(self._entries.items())]

    def find_open(self, name: str) -> EdgeCollection | None:
        entry = self._entries.get(name)
        return None if entry is None else self._open.get(entry.folder)

    def open(self, name: str) -> EdgeCollection:
        entry = self._entry(name)
        if entry.folder not in self._open:
            self._open[entry.folder] = EdgeCollection.load(self._path / entry.folder, entry.spec(name))
        return self._open[entry.folder]

    def ensure(self, spec: CollectionSpec) -> None:
        entry = self._entries.get(spec.name)
        if entry is None:
            self._create(spec)
        else:
            check_fit(spec, entry.spec(spec.name))
            self.open(spec.name)

    def _create(self, spec: CollectionSpec) -> None:
        folder = place_of_records(spec.name, {entry.folder for entry in self._entries.values()})
        # No name points there: what lies there was left by a crash, before its first record or after its drop.
        shutil.rmtree(self._path / folder, ignore_errors=True)
        self._open[folder] = EdgeCollection.create(self._path / folder, spec)
        self._commit(self._entries | {spec.name: CatalogueEntry(folder, spec.tiers, spec.fingerprint)})

    def switch(self, name: str, other: str) -> None:
        self._commit(self._entries | {name: self._entry(other), other: self._entry(name)})

    def drop(self, name: str) -> None:
        entry = self._entries.get(name)
        if entry is None:
            return
        opened = self.find_open(name)
        if entry.folder in self._copies:
            self.abandon(self._copies[entry.folder])
        mark_leaving(self._path / entry.folder)
        self._commit({key: kept for key, kept in self._entries.items() if key != name})
        if opened is not None:
            del self._open[entry.folder]
            opened.close()
        shutil.rmtree(self._path / entry.folder)

    def write(self, name: str, act: Callable[[Writable], None]) -> None:
        """Does something to a collection, and to the copy that is being made of it."""
        opened = self.open(name)
        copy = self._copies.get(self._entry(name).folder)
        if copy is None:
            act(opened)
        else:
            copy.write(act)

    def begin_copy(self, name: str, most: int | None) -> GrowingCopy | None:
        """Begins to copy the records into a fresh folder, so that nothing else is in its files.

        With more records than `most` it is only noted that this is to be done, and None is returned.
        """
        opened = self.open(name)
        if most is not None and opened.count(EVERYTHING) > most:
            self._commit(self._entries | {name: replace(self._entry(name), stale=True)})
            return None
        former = self._entry(name).folder
        fresh = place_of_records(former.rpartition("~")[0], {path.name for path in self._path.glob("*~*")})
        target = EdgeCollection.create(self._path / fresh, opened.spec)
        mark_leaving(target.folder)
        self._copies[former] = GrowingCopy(opened, target)
        return self._copies[former]

    def put_in_place(self, copy: GrowingCopy) -> None:
        """Lets the names point to a complete copy, and removes the former files.

        A crash leaves one of both folders, whole. Who still reads the former records holds them open until then.
        """
        former = copy.source.folder.name
        copy.target.flush()
        mark_leaving(copy.source.folder)
        fresh = copy.target.folder.name
        names = {name: entry for name, entry in self._entries.items() if entry.folder == former}
        self._open[fresh] = copy.target
        self._commit(self._entries | {name: replace(entry, folder=fresh, stale=False) for name, entry in names.items()})
        del self._open[former], self._copies[former]
        (copy.target.folder / LEAVING).unlink()
        shutil.rmtree(copy.source.folder)

    def abandon(self, copy: GrowingCopy) -> None:
        """Removes an unfinished copy; may be repeated."""
        if self._copies.get(copy.source.folder.name) is copy:
            del self._copies[copy.source.folder.name]
            shutil.rmtree(copy.target.folder)

    def stale(self) -> list[str]:
        return [name for name, entry in sorted(self._entries.items()) if entry.stale]

    def _remove_leavings(self) -> None:
        """Removes what a crash has left of an erasure or a drop, and no name points to."""
        used = {entry.folder for entry in self._entries.values()}
        for mark in self._path.glob(f"*~*/{LEAVING}"):
            if mark.parent.name in used:
                mark.unlink()
            else:
                shutil.rmtree(mark.parent)

    def snapshot(self, name: str, target: Path) -> Path:
        entry = self._entry(name)
        copy = target / entry.folder
        if copy.exists():
            raise Invalid(f"{copy} exists already; snapshots never overwrite")
        self.open(name).flush()
        partial = copy.with_name(f"{copy.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(self._path / entry.folder, partial)
        partial.rename(copy)
        write_catalogue(target, read_catalogue(target) | {name: entry})
        return target

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for copy in [*self._copies.values()]:
            self.abandon(copy)
        try:
            for opened in self._open.values():
                opened.close()
        finally:
            self._lock.let_go()

    def _entry(self, name: str) -> CatalogueEntry:
        if name not in self._entries:
            raise Unavailable(f"there is no collection {name} in {self._path}")
        return self._entries[name]

    def _commit(self, entries: dict[str, CatalogueEntry]) -> None:
        write_catalogue(self._path, entries)
        self._entries = entries


def mark_leaving(folder: Path) -> None:
    (folder / LEAVING).touch(mode=0o600)
    sync(folder)
