"""A document and its chunks, as dataclasses inside and as payloads in the store."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Self

from lithify.docs.sources import DocKind, DocName, SourceKind, checked_source_kind
from lithify.docs.trust import Ruling, Trust
from lithify.errors import Invalid

CHUNK_KIND: Final = "chunk"
DOCUMENT_KIND: Final = "document"

Lines = tuple[int, int]
"""First and last line of a chunk, counted from 1."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A quotable piece of a document. It carries no place in the file, so that an edit above it leaves it as it is."""

    tenant: str
    repo: str
    path: str
    chunk_id: str
    text: str
    title: str
    heading_path: str
    doc_kind: DocKind
    ts_hint: str | None  # YYYY-MM-DD
    source_kind: SourceKind
    source_ref: str
    trust: Trust
    content_hash: str

    def __post_init__(self) -> None:
        checked_source_kind(self.source_kind)
        if not self.source_ref:
            raise Invalid(f"chunk {self.record_ref} needs source_kind and source_ref")

    @property
    def name(self) -> DocName:
        return DocName(self.repo, self.path)

    @property
    def doc_id(self) -> str:
        return self.name.doc_id

    @property
    def record_ref(self) -> str:
        return self.name.ref(self.chunk_id)

    def payload(self) -> dict[str, Any]:
        return {"kind": CHUNK_KIND, "doc_id": self.doc_id, "record_ref": self.record_ref, **asdict(self)}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Leaves unknown keys alone: a newer release may have written them. Raises Invalid without its source."""
        if not (payload.get("source_kind") and payload.get("source_ref")):
            raise Invalid(f"chunk {payload.get('record_ref')} needs source_kind and source_ref")
        return cls(**{name: payload.get(name) for name in _CHUNK_FIELDS})  # type: ignore[arg-type]  # as payload() wrote it


_CHUNK_FIELDS: Final = tuple(one.name for one in fields(Chunk))


@dataclass(frozen=True, slots=True)
class RepoDocument:
    """Holds what is known of a document without its chunks, and where in the file each of them stands.

    While its chunks are being written, `writing` names the write: whoever finds that writes them again.
    """

    tenant: str
    repo: str
    path: str
    title: str
    doc_kind: DocKind
    source_kind: SourceKind
    trust: Trust
    ts_hint: str | None  # YYYY-MM-DD
    content_hash: str
    digest: str  # see DocSource
    version: str | None  # of the repository when this text was taken, such as a commit
    ts: int  # when it was stored, in ms
    lines: Mapping[str, Lines] = field(default_factory=dict)  # by chunk id, in the order of the file
    ruling: Ruling | None = None
    writing: str = ""

    @property
    def is_finished(self) -> bool:
        return not self.writing

    @property
    def name(self) -> DocName:
        return DocName(self.repo, self.path)

    @property
    def doc_id(self) -> str:
        return self.name.doc_id

    @property
    def refs(self) -> tuple[str, ...]:
        """Returns the references of its chunks, in the order of the file."""
        return tuple(self.name.ref(chunk_id) for chunk_id in self.lines)

    def payload(self) -> dict[str, Any]:
        lines = [[chunk_id, *span] for chunk_id, span in self.lines.items()]
        ruling = self.ruling.payload() if self.ruling else None
        known = {"kind": DOCUMENT_KIND, "doc_id": self.doc_id, "source_ref": self.name.source_ref}
        return known | asdict(self) | {"lines": lines, "ruling": ruling}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        known = {one.name: payload.get(one.name) for one in fields(cls)}
        known["lines"] = {chunk_id: (first, last) for chunk_id, first, last in payload.get("lines", ())}
        known["ruling"] = Ruling.from_payload(payload["ruling"]) if payload.get("ruling") else None
        return cls(**known)  # type: ignore[arg-type]  # as payload() wrote it
