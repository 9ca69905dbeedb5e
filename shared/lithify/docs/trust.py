"""Which documents may be quoted as the operator's own, and the rulings that say otherwise (spec 10 §6)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, Self, get_args

from lithify.docs.sources import DocKind, SourceKind
from lithify.errors import Invalid

Trust = Literal["trusted", "untrusted"]
TRUSTS: Final[tuple[Trust, ...]] = get_args(Trust)
RULING_KIND: Final = "ruling"


@dataclass(frozen=True, slots=True)
class Ruling:
    """Records somebody's decision about the trust of a document, kept for good; `at` is in ms."""

    ruling_id: str
    tenant: str
    repo: str
    path: str
    before: Trust
    after: Trust
    by: str
    why: str
    at: int
    content_hash: str  # of the text the ruling was about

    def payload(self) -> dict[str, Any]:
        return {"kind": RULING_KIND, **asdict(self)}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        return cls(**{field.name: payload[field.name] for field in fields(cls)})


def trust_of(source_kind: SourceKind, doc_kind: DocKind, content_hash: str, ruling: Ruling | None) -> Trust:
    """Decides whether a document is trusted.

    A promotion holds for the text it was about; a demotion holds until somebody rules again.
    """
    if ruling is not None and (ruling.after == "untrusted" or ruling.content_hash == content_hash):
        return ruling.after
    return _trust_of_origin(source_kind, doc_kind)


def checked_trust(trust: str) -> Trust:
    """Returns the trust as it is. Raises Invalid for an unknown one."""
    if trust not in TRUSTS:
        raise Invalid(f"trust {trust!r} is unknown; known are {', '.join(TRUSTS)}")
    return trust


def _trust_of_origin(source_kind: SourceKind, doc_kind: DocKind) -> Trust:
    if source_kind == "operator" and doc_kind in ("decision", "roadmap", "spec"):
        return "trusted"
    return "untrusted"
