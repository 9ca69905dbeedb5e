"""One authored document as an operator wrote it, checked once before anything is stored."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from lithify.errors import Invalid
from lithify.memory.rulebook.document import AuthoredDocument, partition_document

# Parsing 256 KiB of the worst inline text measured takes 22 s, of prose half a second (docs/authored.md).
MAX_BYTES: Final = 256 * 1024
# Every searchable piece is embedded before the write is answered: at 170 a second this is 12 s.
MAX_NODES: Final = 2_000
MAX_NAME: Final = 200

HASH: Final = "sha256"


class TooLarge(Invalid):
    """The document is larger than any may be; split it."""


class Origin(StrEnum):
    """Says who keeps a document: a folder's documents go when their file goes."""

    API = "api"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class AuthoredText:
    """A whole document as an operator wrote it; `AuthoredDocument` is the same in its tiers."""

    tenant: str
    name: str
    text: str
    origin: Origin
    ts: int  # of the last change, in ms
    edition: str | None = None  # what its stored nodes were made from; None while they are being written

    @property
    def raw(self) -> bytes:
        return self.text.encode()

    @property
    def content_hash(self) -> str:
        return content_hash(self.raw)


def content_hash(raw: bytes) -> str:
    """Returns a hash with the name of its algorithm: another one must not pass for the same content (X63)."""
    return f"{HASH}:{hashlib.sha256(raw).hexdigest()}"


def check_name(name: str) -> str:
    """Returns the name. Raises Invalid: record ids are `name#ordinal`, and names stand in URLs."""
    if not 0 < len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        raise Invalid(f"name: must have 1 to {MAX_NAME} printable characters, with no blank around them")
    if "#" in name or "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
        raise Invalid(f"name: {name!r} must not contain '#', '\\', nor an empty, '.' or '..' part between slashes")
    return name


def check_size(name: str, size: int) -> None:
    if size > MAX_BYTES:
        raise TooLarge(f"{name} has {size} bytes, {MAX_BYTES} are allowed; split it")


def read_parts(raw: bytes, name: str, *, core: bool) -> AuthoredDocument:
    """Partitions a document into its tiers; CPU-bound.

    Raises Invalid for bytes that are no text, and for more nodes than one document may have.
    """
    check_size(name, len(raw))
    parts = partition_document(raw, name, core)
    if len(parts.nodes) > MAX_NODES:
        raise TooLarge(f"{name} has {len(parts.nodes)} blocks and list items, {MAX_NODES} are allowed; split it")
    return parts
