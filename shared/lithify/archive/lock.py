"""The lock on the archive as a whole, beside those of its writers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lithify.archive.durable import disk_errors, make_folder
from lithify.errors import Unavailable
from lithify.locks import FileLock

_WHOLE_ARCHIVE: Final = "exclusive.lock"


@contextmanager
def whole_archive(archive: Path) -> Iterator[None]:
    """For whoever reads all of the archive into something, or rewrites it: one at a time.

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
