"""What a stored record is known by among its kind: with it, its id under another embedding family can be told."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from lithify.memory.compaction.summary_id import summary_id
from lithify.store import Record, point_id
from lithify.store.identity import joined


def _event(payload: Mapping[str, Any]) -> str:
    return str(payload["event_id"])


def _summary(payload: Mapping[str, Any]) -> str:
    return joined(payload["user"], summary_id(payload["session"], payload["source_ids"]))


def _authored(payload: Mapping[str, Any]) -> str:
    """A node has its place in the document; the document itself has none."""
    name = str(payload["source_ref"])
    return name if payload.get("seq") is None else f"{name}#{payload['seq']:06d}"


def _field(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda payload: str(payload[name])


def _one_of_a_tenant(payload: Mapping[str, Any]) -> str:  # noqa: ARG001 - called like the others
    return ""


KEYS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "turn": _event,
    "memory": _event,
    "guidance": _event,
    "summary": _summary,
    "authored": _authored,
    "chunk": _field("record_ref"),
    "document": _field("doc_id"),
    "repository": _field("repo"),
    "ruling": _field("ruling_id"),
    "corpus": _one_of_a_tenant,
}


def id_under(record: Record, family: str) -> str:
    """The id its writer would give this record with a model of that family.

    A kind or payload we do not know keeps its identity by its present id: it is neither lost nor mixed up.
    """
    payload = record.payload
    kind = str(payload.get("kind"))
    try:
        key = KEYS[kind](payload)
    except (LookupError, TypeError, ValueError):
        key = record.id
    return point_id(payload["tenant"], kind, key, family)
