"""What routes depend on: a caller who may do this, and the tenant whose memory the caller opens."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Final, Self

import structlog
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from lithify.access import ApiKey, Door, Forbidden, KeyScope, OpenDoor
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.http.route import JsonRequest

TENANT_HEADER: Final = "x-lithify-tenant"

_bearer: Final = HTTPBearer(
    auto_error=False, scheme_name="API key", description="`lf_<id>_<secret>`; not needed on loopback without keys."
)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


class Access:
    """Makes FastAPI dependencies; each raises what its door raises, which becomes 401, 403, 429 or 503."""

    def __init__(self, door: Door) -> None:
        self._door = door

    @classmethod
    def open(cls) -> Self:
        """Everybody is the default tenant and may do everything: for tests and tools inside one process."""
        return cls(OpenDoor())

    def needs(self, scope: KeyScope) -> Callable[..., Awaitable[TenantScope]]:
        """The tenant of the caller's key; the default tenant where no key is needed."""

        async def admitted(request: Request, bearer: Bearer) -> TenantScope:
            key = await self._admit(bearer, scope)
            tenant = DEFAULT_TENANT if key is None else key.tenant
            refuse_other_tenants(request, tenant)
            return TenantScope(tenant)

        return admitted

    def oversees(self) -> Callable[..., Awaitable[AnyTenant]]:
        """What an administrator looks after: the tenant of the key; everything where no key is needed."""

        async def admitted(request: Request, bearer: Bearer) -> AnyTenant:
            key = await self._admit(bearer, KeyScope.ADMIN)
            if key is None:
                return EVERY_TENANT
            refuse_other_tenants(request, key.tenant)
            return TenantScope(key.tenant)

        return admitted

    async def _admit(self, bearer: HTTPAuthorizationCredentials | None, scope: KeyScope) -> ApiKey | None:
        key = await self._door.admit(None if bearer is None else bearer.credentials, scope)
        if key is not None:
            structlog.contextvars.bind_contextvars(key_id=key.id)
        return key


def calling_key() -> str | None:
    """The id of the key this request was admitted with, for records of who did something; None where none is needed."""
    key_id = structlog.contextvars.get_contextvars().get("key_id")
    return None if key_id is None else str(key_id)


def refuse_other_tenants(request: Request, tenant: str) -> None:
    """The key alone says whose memory it is; a request that names another one is mistaken, or worse."""
    for named in named_tenants(request):
        if named != tenant:
            raise Forbidden(f"tenant: this request is made for tenant {tenant!r} and may not name another")


def named_tenants(request: Request) -> Iterator[object]:
    for given in (request.headers, request.query_params):
        yield from (value for name, value in given.items() if name in (TENANT_HEADER, "tenant"))
    body = request.parsed if isinstance(request, JsonRequest) else None
    if isinstance(body, dict) and "tenant" in body:
        yield body["tenant"]
