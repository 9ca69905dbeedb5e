"""Authorization of HTTP requests: dependencies that check what a caller may do and say whose memory it is."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Final, Self

import structlog
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from lithify.access import ApiKey, Authenticator, Forbidden, KeyScope, OpenAuthenticator
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.http.body import JsonRequest

TENANT_HEADER: Final = "x-lithify-tenant"

_bearer: Final = HTTPBearer(
    auto_error=False, scheme_name="API key", description="`lf_<id>_<secret>`; not needed on loopback without keys."
)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


class Access:
    """Makes FastAPI dependencies; each raises what its authenticator raises, which becomes 401, 403, 429 or 503."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    @classmethod
    def open(cls) -> Self:
        """Takes everybody for the default tenant and allows everything: for tests and tools inside one process."""
        return cls(OpenAuthenticator())

    def needs(self, required: KeyScope) -> Callable[..., Awaitable[TenantScope]]:
        """Makes a dependency that returns the tenant of the caller's key; the default tenant where no key is needed."""

        async def authorize(request: Request, bearer: Bearer) -> TenantScope:
            key = await self._authenticate(bearer, required)
            tenant = DEFAULT_TENANT if key is None else key.tenant
            refuse_other_tenants(request, tenant)
            return TenantScope(tenant)

        return authorize

    def needs_admin(self) -> Callable[..., Awaitable[AnyTenant]]:
        """Makes a dependency that returns the tenant an administrator may see; all of them where no key is needed."""

        async def authorize(request: Request, bearer: Bearer) -> AnyTenant:
            key = await self._authenticate(bearer, KeyScope.ADMIN)
            if key is None:
                return EVERY_TENANT
            refuse_other_tenants(request, key.tenant)
            return TenantScope(key.tenant)

        return authorize

    async def _authenticate(self, bearer: HTTPAuthorizationCredentials | None, required: KeyScope) -> ApiKey | None:
        key = await self._authenticator.authenticate(None if bearer is None else bearer.credentials, required)
        if key is not None:
            structlog.contextvars.bind_contextvars(key_id=key.id)
        return key


def calling_key() -> str | None:
    """Returns the id of the key of this request, for records of who did something; None where none is needed."""
    key_id = structlog.contextvars.get_contextvars().get("key_id")
    return None if key_id is None else str(key_id)


def refuse_other_tenants(request: Request, tenant: str) -> None:
    """Raises Forbidden: the key alone says whose memory it is; a request that names another is mistaken, or worse."""
    for named in _named_tenants(request):
        if named != tenant:
            raise Forbidden(f"tenant: this request is made for tenant {tenant!r} and may not name another")


def _named_tenants(request: Request) -> Iterator[object]:
    for source in (request.headers, request.query_params):
        yield from (value for name, value in source.items() if name in (TENANT_HEADER, "tenant"))
    body = request.parsed if isinstance(request, JsonRequest) else None
    if isinstance(body, dict) and "tenant" in body:
        yield body["tenant"]
