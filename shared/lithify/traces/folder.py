"""Receipts in files, for a node that is alone: they take no memory, and are in no file that must be durable."""

import asyncio
import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from lithify.batching import batched
from lithify.errors import Unavailable
from lithify.traces.shelf import PAGE, TraceLimits

# Anything else in the folder is not ours to count or remove.
_ID: Final = re.compile(r"[0-9a-f]{32}")


class _Entry(NamedTuple):
    written_s: float
    size: int


Entries = OrderedDict[str, _Entry]
"""The receipts of a tenant by their id, oldest first."""


class FolderTraces:
    """Keeps a file for each receipt in a folder for each tenant. Belongs to one process; files of an earlier one count.

    Nothing is synced to disk. A file that a crash has torn is unreadable to `unpack_trace`, and goes when it is old.
    """

    def __init__(self, folder: Path, limits: TraceLimits, now_s: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._limits = limits
        self._now_s = now_s
        self._lock = threading.Lock()
        self._found: dict[str, Entries] | None = None

    async def put(self, tenant: str, trace_id: str, data: bytes) -> None:
        await asyncio.to_thread(self._put, name_of(tenant), trace_id, data)

    async def get(self, tenant: str, trace_id: str) -> bytes | None:
        return await asyncio.to_thread(self._get, name_of(tenant), trace_id)

    async def pages(self, tenant: str) -> AsyncIterator[Mapping[str, bytes]]:
        place = name_of(tenant)
        for page in batched(await asyncio.to_thread(self._list, place), PAGE):
            yield await asyncio.to_thread(self._read, place, page)

    async def remove(self, tenant: str, trace_ids: Sequence[str]) -> int:
        return await asyncio.to_thread(self._remove, name_of(tenant), trace_ids)

    async def sweep(self) -> None:
        await asyncio.to_thread(self._sweep)

    def _put(self, place: str, trace_id: str, data: bytes) -> None:
        with self._lock, _disk():
            entries = self._entries().setdefault(place, OrderedDict())
            path = self._path(place, trace_id)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                _write(path, data)
            except OSError:
                path.unlink(missing_ok=True)
                raise
            entries[trace_id] = _Entry(self._now_s(), len(data))
            self._make_room(place, entries)

    def _get(self, place: str, trace_id: str) -> bytes | None:
        with self._lock, _disk():
            entry = self._entries().get(place, OrderedDict[str, _Entry]()).get(trace_id)
            if entry is None or self._is_old(entry):
                return None
        return self._read(place, [trace_id]).get(trace_id)

    def _read(self, place: str, trace_ids: Sequence[str]) -> dict[str, bytes]:
        """Leaves out what went meanwhile."""
        found: dict[str, bytes] = {}
        for trace_id in trace_ids:
            with _disk(), suppress(FileNotFoundError):
                found[trace_id] = self._path(place, trace_id).read_bytes()
        return found

    def _list(self, place: str) -> list[str]:
        with self._lock, _disk():
            return list(self._entries().get(place, ()))

    def _remove(self, place: str, trace_ids: Sequence[str]) -> int:
        with self._lock, _disk():
            entries = self._entries().get(place, OrderedDict())
            known = [trace_id for trace_id in trace_ids if trace_id in entries]
            for trace_id in known:
                self._drop(place, entries, trace_id)
            return len(known)

    def _sweep(self) -> None:
        with self._lock, _disk():
            for place, entries in self._entries().items():
                self._make_room(place, entries)

    def _make_room(self, place: str, entries: Entries) -> None:
        size = sum(entry.size for entry in entries.values())
        while entries:
            trace_id, oldest = next(iter(entries.items()))
            if len(entries) <= self._limits.most and size <= self._limits.most_bytes and not self._is_old(oldest):
                return
            self._drop(place, entries, trace_id)
            size -= oldest.size

    def _drop(self, place: str, entries: Entries, trace_id: str) -> None:
        self._path(place, trace_id).unlink(missing_ok=True)
        del entries[trace_id]

    def _is_old(self, entry: _Entry) -> bool:
        return self._now_s() - entry.written_s > self._limits.ttl_s

    def _path(self, place: str, trace_id: str) -> Path:
        return self._folder / place / trace_id

    def _entries(self) -> dict[str, Entries]:
        if self._found is None:
            self._found = dict(_scan(self._folder))
        return self._found


def name_of(tenant: str) -> str:
    """Returns the name of a tenant's folder: whatever the tenant is called, it is a plain name and always the same."""
    return hashlib.blake2b(tenant.encode(), digest_size=16).hexdigest()


def _scan(folder: Path) -> Iterator[tuple[str, Entries]]:
    if not folder.exists():
        return
    for place in folder.iterdir():
        files = [(path, path.stat()) for path in place.iterdir() if _ID.fullmatch(path.name)]
        files.sort(key=lambda file: file[1].st_mtime)
        yield place.name, OrderedDict((path.name, _Entry(seen.st_mtime, seen.st_size)) for path, seen in files)


def _write(path: Path, data: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(data)


@contextmanager
def _disk() -> Iterator[None]:
    """Raises Unavailable for a disk that is full, gone or not ours."""
    try:
        yield
    except OSError as error:
        raise Unavailable(f"receipts cannot be kept on disk: {error.strerror}") from error
