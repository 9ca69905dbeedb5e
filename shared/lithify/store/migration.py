"""A record on its way into the space of another model: its id and its payload there.

An id is made of a key that the record has among its kind, so it can be told for any embedding family.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from lithify.memory.compaction.summary import summary_id
from lithify.memory.pieces import is_divided
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store.memory_record import has_pieces
from lithify.store.records import Record, join_parts, point_id


def _event_key(payload: Mapping[str, Any]) -> str:
    return str(payload["event_id"])


def _summary_key(payload: Mapping[str, Any]) -> str:
    return join_parts(payload["user"], summary_id(payload["session"], payload["source_ids"]))


def _authored_key(payload: Mapping[str, Any]) -> str:
    """A node has its place in the document; the document itself has none."""
    name = str(payload["source_ref"])
    return name if payload.get("seq") is None else f"{name}#{payload['seq']:06d}"


def _field_key(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda payload: str(payload[name])


def _tenant_key(payload: Mapping[str, Any]) -> str:  # noqa: ARG001 - called like the others
    """A tenant has one such record, so nothing but its kind is needed."""
    return ""


NATURAL_KEYS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "turn": _event_key,
    "memory": _event_key,
    "guidance": _event_key,
    "summary": _summary_key,
    "authored": _authored_key,
    "chunk": _field_key("record_ref"),
    "document": _field_key("doc_id"),
    "repository": _field_key("repo"),
    "ruling": _field_key("ruling_id"),
    "corpus": _tenant_key,
}
"""What a stored record is known by among its kind; a piece is made anew from its parent and needs no name."""


def id_in_family(record: Record, family: str) -> str:
    """Returns the id its writer would give this record with a model of that family.

    A kind or payload we do not know keeps its identity by its present id: it is neither lost nor mixed up.
    """
    payload = record.payload
    kind = str(payload.get("kind"))
    try:
        key = NATURAL_KEYS[kind](payload)
    except (LookupError, TypeError, ValueError):
        key = record.id
    return point_id(payload["tenant"], kind, key, family)


LINKS: Final = frozenset({"compacted_into", "superseded_by", "supersedes"})
"""Fields with the id of another record."""


def is_embedded(record: Record) -> bool:
    """Rules and whole documents are never searched and have no vectors; a marker says that there should be some."""
    return bool(record.vectors or record.payload.get(MISSING_TIERS))


def migrate_payload(record: Record, moved: Mapping[str, str], fingerprint: str) -> dict[str, Any]:
    """Returns the payload under another model; `moved` holds the new id of each linked record by its present one."""
    payload = dict(record.payload)
    if "anchors" in payload:
        # An earlier release may have known fewer ways to write a date.
        payload["anchors"] = anchor_density(str(payload.get("text", "")))
    if "embedding" in payload:
        payload["embedding"] = fingerprint
    if has_pieces(str(payload.get("kind")), payload.get("provenance")):
        payload.pop("divided", None)
        payload |= {"divided": True} if is_divided(str(payload.get("text") or "")) else {}
    for link in LINKS & payload.keys():
        payload[link] = moved.get(payload[link], payload[link])
    if "hop_targets" in payload:
        payload["hop_targets"] = [moved.get(target, target) for target in payload["hop_targets"]]
    return payload


def linked_ids(payload: Mapping[str, Any]) -> list[str]:
    """Returns the ids of the records that this one points to."""
    single = (payload.get(link) for link in sorted(LINKS))
    return [link for link in (*single, *payload.get("hop_targets", ())) if link]


def payload_digest(payload: Mapping[str, Any]) -> bytes:
    """Hashes a payload without its markers: they are about vectors, of which the two models have each their own."""
    compared = {name: value for name, value in payload.items() if name != MISSING_TIERS}
    return hashlib.blake2b(orjson.dumps(compared, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
