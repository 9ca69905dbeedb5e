"""What the store refuses before an engine sees it: foreign, malformed and ill-fitting input."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

import numpy as np
import orjson

from lithify.errors import Invalid, Misconfigured, Unavailable
from lithify.events import AnyTenant, EveryTenant
from lithify.memory.vectors.tiers import TIER_NAMES
from lithify.store.contract import CollectionSpec, Query, TiersById
from lithify.store.records import LEXICAL, Record, SparseVector, Vector
from lithify.store.scoping import PLACE, PLACED
from lithify.store.where import Where

# They decide who may see a record.
FIXED: Final = ("tenant", *PLACED, PLACE)


def check_records(scope: AnyTenant, records: Iterable[Record], spec: CollectionSpec) -> None:
    """Raises Invalid for records an engine must not see: Edge refuses a wrong vector but keeps the point without it."""
    for record in records:
        owner = f"record {record.id}"
        check_id(record.id)
        check_owner(scope, record.payload, owner)
        check_json(record.payload, owner)
        for name, vector in record.vectors.items():
            check_vector(name, vector, spec, owner)
        if record.lexical is not None and not np.isfinite(record.lexical.values).all():
            raise Invalid(f"{owner}: {LEXICAL} holds a value that is not finite")


def check_id(text: str) -> None:
    if canonical_id(text) != text:
        raise Invalid(f"record id {text!r} is not a uuid in its usual lower-case form")


def canonical_id(text: str) -> str | None:
    try:
        return str(UUID(text))
    except (ValueError, AttributeError, TypeError):
        return None


def known_ids(ids: Iterable[str]) -> list[str]:
    """Returns each id once, in order; what is not a uuid cannot be stored and is left out."""
    return list(dict.fromkeys(canonical for text in ids if (canonical := canonical_id(text)) is not None))


def check_owner(scope: AnyTenant, payload: Mapping[str, Any], owner: str) -> None:
    if PLACE in payload:
        raise Invalid(f"{owner}: payload key {PLACE} is reserved")
    if not payload.get("tenant"):
        raise Invalid(f"{owner}: payload needs a tenant")
    for field in ("tenant", *PLACED):
        if not isinstance(payload.get(field), str | None):
            raise Invalid(f"{owner}: {field} must be text, not {payload[field]!r}")
    wanted = {} if isinstance(scope, EveryTenant) else {"tenant": scope.tenant, "user": scope.user}
    for field, value in wanted.items():
        if value not in (None, payload.get(field)):
            raise Invalid(f"{owner} belongs to {field} {payload.get(field)!r}, not to {value!r}")


def check_json(payload: Mapping[str, Any], owner: str) -> None:
    try:
        orjson.dumps(payload)
    except TypeError as error:
        raise Invalid(f"{owner}: payload cannot be written as JSON: {error}") from error


def check_vector(name: str, vector: Vector, spec: CollectionSpec, owner: str) -> None:
    length = spec.lengths.get(name)
    if length is None:
        raise Invalid(f"{owner}: unknown vector {name!r}; known are {', '.join(TIER_NAMES)}")
    if vector.shape != (length,):
        raise Invalid(f"{owner}: {name} has the shape {vector.shape}, collection {spec.name} wants ({length},)")
    if not np.isfinite(vector).all():
        raise Invalid(f"{owner}: {name} holds a value that is not finite")


def check_tiers(tiers: TiersById, spec: CollectionSpec) -> None:
    for id_, vectors in tiers.items():
        check_id(id_)
        for name, vector in vectors.items():
            check_vector(name, vector, spec, f"record {id_}")


def check_queries(queries: Iterable[Query], spec: CollectionSpec) -> None:
    for query in queries:
        if not isinstance(query.vector, SparseVector):
            check_vector(query.using, query.vector, spec, "query")


def check_scroll(limit: int, after: str | None, names: Iterable[str]) -> None:
    if limit < 1:
        raise Invalid(f"a page needs a limit of at least 1, not {limit}")
    if after is not None:
        check_id(after)
    if unknown := set(names) - {*TIER_NAMES, LEXICAL}:
        raise Invalid(f"unknown vector {', '.join(sorted(unknown))}; known are {', '.join((*TIER_NAMES, LEXICAL))}")


def check_update(payload: Mapping[str, Any]) -> None:
    if not payload:
        raise Invalid("set_payload needs at least one key")
    if fixed := [key for key in FIXED if key in payload]:
        raise Invalid(f"{', '.join(fixed)} of a stored record cannot be changed; write the record anew")
    check_json(payload, "set_payload")


def check_deletion(scope: AnyTenant, where: Where) -> None:
    if isinstance(scope, EveryTenant) and where == Where():
        raise Invalid("to remove every record of every tenant, drop the collection")


def check_fit(wanted: CollectionSpec, stored: CollectionSpec) -> None:
    """Raises Misconfigured where vectors of two models would be mixed.

    An empty fingerprint says nothing and passes (spec 03 §8).
    """
    if wanted.fingerprint and stored.fingerprint and wanted.fingerprint != stored.fingerprint:
        raise Misconfigured(
            f"collection {wanted.name} holds vectors of embedding {stored.fingerprint}, configured is "
            f"{wanted.fingerprint}; configure the former model, or move the memories to this one with `lithify reembed`"
        )
    if wanted.tiers != stored.tiers:
        raise Misconfigured(
            f"collection {wanted.name} has tiers {stored.tiers}, configured are {wanted.tiers}; "
            "configure the former tiers, or move the memories to these with `lithify reembed`"
        )


def check_unmoved(opened: CollectionSpec, present: CollectionSpec) -> None:
    """Raises Unavailable in a process whose model is no longer the collection's: until its restart its events wait."""
    if opened.fingerprint and present.fingerprint and opened.fingerprint != present.fingerprint:
        raise Unavailable(
            f"collection {opened.name} was re-embedded and holds vectors of embedding {present.fingerprint} now; "
            f"restart this process with that model (it has {opened.fingerprint})"
        )
