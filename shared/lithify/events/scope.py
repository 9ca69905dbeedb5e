"""Whose memory a call may touch; every function that reads or writes stored memory takes a scope first."""

from dataclasses import dataclass
from typing import Final, TypeAlias

DEFAULT_TENANT: Final = "default"

SHARED: Final = ""
"""The owner of what belongs to all users of a tenant: global memories and authored documents. No user is named so."""


@dataclass(frozen=True, slots=True)
class TenantScope:
    """One tenant, optionally narrowed to one of its users. The tenant comes from the API key, never from a body.

    With `shared`, a user's scope also sees what belongs to all users of the tenant.
    """

    tenant: str
    user: str | None = None
    shared: bool = False

    def __post_init__(self) -> None:
        if not self.tenant:
            raise ValueError("a TenantScope needs a tenant")


@dataclass(frozen=True, slots=True)
class EveryTenant:
    """The operator's view, for exports, rebuilds and migrations; never reachable from a tenant's request."""


EVERY_TENANT: Final = EveryTenant()

AnyTenant: TypeAlias = TenantScope | EveryTenant
"""Whose data a call may see: one tenant's, or the operator's view of all tenants."""
