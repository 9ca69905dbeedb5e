"""One document as a whole: what is known of it without its chunks, and where in the file each of them stands."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Self

from lithify.docs.naming import DocName
from lithify.docs.sources import DocKind, SourceKind
from lithify.docs.trust import Ruling, Trust

KIND: Final = "document"

Lines = tuple[int, int]
"""First and last line of a chunk, counted from 1."""


@dataclass(frozen=True, slots=True)
class Document:
    """While its chunks are being written, `writing` names the write: whoever finds that writes them again."""

    tenant: str
    repo: str
    path: str
    title: str
    doc_kind: DocKind
    source_kind: SourceKind
    trust: Trust
    ts_hint: str | None  # YYYY-MM-DD
    content_hash: str
    digest: str  # see Source
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
        """Of its chunks, in the order of the file."""
        return tuple(self.name.ref(chunk_id) for chunk_id in self.lines)

    def payload(self) -> dict[str, Any]:
        lines = [[chunk_id, *span] for chunk_id, span in self.lines.items()]
        ruling = self.ruling.payload() if self.ruling else None
        known = {"kind": KIND, "doc_id": self.doc_id, "source_ref": self.name.source_ref}
        return known | asdict(self) | {"lines": lines, "ruling": ruling}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        known = {one.name: payload.get(one.name) for one in fields(cls)}
        known["lines"] = {chunk_id: (first, last) for chunk_id, first, last in payload.get("lines", ())}
        known["ruling"] = Ruling.from_payload(payload["ruling"]) if payload.get("ruling") else None
        return cls(**known)  # type: ignore[arg-type]  # as payload() wrote it
