"""The only way from a caller's conditions to an engine's filter: through a scope."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lithify.events import AnyTenant, EveryTenant, TenantScope
from lithify.events.scope import SHARED
from lithify.store.records import Record, join_parts
from lithify.store.where import AnyOf, Condition, Equals, Where

# Holds (tenant, user) and (tenant, session) as one keyword each; see DECISIONS.md, "Places".
PLACE: Final = "_place"
PLACED: Final = ("user", "session")


@dataclass(frozen=True, slots=True)
class ScopedWhere:
    """Conditions that already confine to a scope; the engines' filters are made of nothing else."""

    must: tuple[Condition, ...]
    must_not: tuple[Condition, ...]


def confine(scope: AnyTenant, where: Where) -> ScopedWhere:
    """Adds the tenant always, and the user if the scope names one; user and session by the places that imply them."""
    if isinstance(scope, EveryTenant):
        return ScopedWhere(where.must, where.must_not)
    if not isinstance(scope, TenantScope):
        raise TypeError(f"a TenantScope is needed, not {type(scope).__name__}")
    placed = tuple(_confine_condition(scope.tenant, condition) for condition in where.must)
    return ScopedWhere((Equals("tenant", scope.tenant), *_owners(scope), *placed), where.must_not)


def _owners(scope: TenantScope) -> tuple[Condition, ...]:
    if scope.user is None:
        return ()
    own = place(scope.tenant, "user", scope.user)
    if not scope.shared:
        return (Equals(PLACE, own),)
    return (AnyOf(PLACE, (own, place(scope.tenant, "user", SHARED))),)


def _confine_condition(tenant: str, condition: Condition) -> Condition:
    if isinstance(condition, Equals) and condition.field in PLACED and isinstance(condition.value, str):
        return Equals(PLACE, place(tenant, condition.field, condition.value))
    return condition


def place(tenant: str, field: str, value: str) -> str:
    return join_parts(tenant, field, value)


def add_places(record: Record) -> dict[str, Any]:
    payload = record.payload
    places = [place(payload["tenant"], field, payload[field]) for field in PLACED if payload.get(field) is not None]
    return {**payload, PLACE: places}


def remove_places(payload: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (payload or {}).items() if key != PLACE}
