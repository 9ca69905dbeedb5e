"""One chunk of a document, as dataclass inside and as payload in the store."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from lithify.docs.naming import DocName
from lithify.docs.sources import DocKind, SourceKind, checked_source_kind
from lithify.docs.trust import Trust
from lithify.errors import Invalid

KIND: Final = "chunk"


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
        return {"kind": KIND, "doc_id": self.doc_id, "record_ref": self.record_ref, **asdict(self)}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Unknown keys are left alone: a newer release may have written them. Raises Invalid without its source."""
        if not (payload.get("source_kind") and payload.get("source_ref")):
            raise Invalid(f"chunk {payload.get('record_ref')} needs source_kind and source_ref")
        return cls(**{name: payload.get(name) for name in _NAMES})  # type: ignore[arg-type]  # as payload() wrote it


_NAMES: Final = tuple(field.name for field in fields(Chunk))
