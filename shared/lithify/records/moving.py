"""A record on its way into the space of another model: what it is called there, and what of it changes."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from lithify.embedding import Manifest
from lithify.records.dense import Embedded
from lithify.records.wording import model_text
from lithify.store import Record

MARKERS: Final = "missing_tiers"


def is_embedded(record: Record) -> bool:
    """Rules and whole documents are never searched and have no vectors; a marker says that there should be some."""
    return bool(record.vectors or record.payload.get(MARKERS))


def moved_payload(record: Record, moved: Mapping[str, str], fingerprint: str) -> dict[str, Any]:
    payload = dict(record.payload)
    if "embedding" in payload:
        payload["embedding"] = fingerprint
    if "compacted_into" in payload:
        payload["compacted_into"] = moved.get(payload["compacted_into"], payload["compacted_into"])
    if "hop_targets" in payload:
        payload["hop_targets"] = [moved.get(target, target) for target in payload["hop_targets"]]
    return payload


def links_of(payload: Mapping[str, Any]) -> list[str]:
    return [link for link in (payload.get("compacted_into"), *payload.get("hop_targets", ())) if link]


def with_vectors(record: Record, embedded: Embedded, manifest: Manifest) -> Record:
    payload = {name: value for name, value in record.payload.items() if name != MARKERS}
    missing = embedded.missing(manifest)
    return replace(record, payload=payload | ({MARKERS: list(missing)} if missing else {}), vectors=embedded.vectors)


def text_of(record: Record | None) -> str | None:
    return None if record is None else model_text(record.payload)


def digest(payload: Mapping[str, Any]) -> bytes:
    """Markers do not count: they are about vectors, which the two models have each of their own."""
    compared = {name: value for name, value in payload.items() if name != MARKERS}
    return hashlib.blake2b(orjson.dumps(compared, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
