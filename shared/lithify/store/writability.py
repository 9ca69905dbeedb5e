"""Tells an engine that cannot write from one that cannot bear a single record."""

import re
from typing import Final

from lithify.events import EVERY_TENANT
from lithify.store.contract import VectorStore
from lithify.store.where import Where

NOBODY: Final = "00000000-0000-0000-0000-000000000000"
"""An id that no record has: ours are made of names and never come out as zero."""

# What engines and systems say of a disk that is full, broken or not theirs: nothing that a record could be blamed for.
_STORAGE: Final = re.compile(
    r"no space|disk (is )?full|out of disk|quota|read-only file system|input/output error|\bi/o error|\bio ?error"
    r"|permission denied|too many open files|cannot allocate|out of memory|os error",
    re.IGNORECASE,
)


def is_storage_trouble(words: str) -> bool:
    """Tells whether an engine's words are about the disk or memory below it."""
    return _STORAGE.search(words) is not None


async def check_writable(store: VectorStore, collection: str) -> None:
    """Has the engine do the least write there is: it meets no record, and takes the whole way to the disk all the same.

    Raises Unavailable or Misconfigured when the engine cannot do even that.
    """
    await store.set_payload(EVERY_TENANT, collection, Where().ids([NOBODY]), {"probed": True})
