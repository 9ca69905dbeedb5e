"""Writes that are on the disk when they return, refusals of the disk as our own error, the lock on the archive."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lithify.errors import Unavailable
from lithify.locks import FileLock


@contextmanager
def disk_errors(archive: Path) -> Iterator[None]:
    """Raises Unavailable for what a full or failing disk raises.

    Nothing is acknowledged, and the same is tried again.
    """
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the archive in {archive} cannot be used: {error.strerror or error}") from error


def sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(path: Path) -> None:
    """Creates what is missing of the path, each folder's name durable in its parent."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync(path.parent)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def write_file(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(fresh: Path, path: Path) -> None:
    """Replaces a file in one step.

    The path names either all of the former file or all of the fresh one, whenever the machine stops.
    """
    fresh.replace(path)
    sync(path.parent)


def remove_file(path: Path) -> None:
    path.unlink(missing_ok=True)
    sync(path.parent)


_WHOLE_ARCHIVE: Final = "exclusive.lock"


@contextmanager
def whole_archive(archive: Path) -> Iterator[None]:
    """Admits one at a time who reads all of the archive into something, or rewrites it.

    Otherwise a rebuild could bring back what is being forgotten meanwhile. Appending goes on. Raises Unavailable
    while another holds it.
    """
    lock = FileLock(archive / _WHOLE_ARCHIVE)
    with disk_errors(archive):
        make_folder(archive)
        ours = lock.acquire()
    if not ours:
        holder = lock.signature()
        raise Unavailable(f"process {holder} is rebuilding from the archive in {archive} or rewriting it; try later")
    try:
        yield
    finally:
        lock.let_go()
