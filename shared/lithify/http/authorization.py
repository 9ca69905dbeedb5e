"""Authorization of HTTP requests: dependencies that check what a caller may do and say whose memory it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Generic, Self, TypeVar

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

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever makes a request, once its key was checked; None where no key is needed."""

    key: ApiKey | None

    @property
    def tenant(self) -> str:
        return DEFAULT_TENANT if self.key is None else self.key.tenant

    def require(self, scope: KeyScope, what: str) -> None:
        """Raises Forbidden unless the caller may do `what`, which needs more than the route itself."""
        if self.key is not None and not self.key.allows(scope):
            raise Forbidden(f"{what}: key {self.key.id} has not the scope {scope.value}")


@dataclass(frozen=True, slots=True, eq=False)
class Authorization(Generic[T]):
    """A dependency that admits callers with the required scope, and tells the route what they may see.

    Routes of ours admit a caller before they read the body, so that a stranger's is never read.
    """

    authenticator: Authenticator
    required: KeyScope
    view: Callable[[Caller], T]

    async def admit(self, request: Request) -> T:
        """Raises what the authenticator raises, and Forbidden for a caller who names another tenant or may not see."""
        caller = await self._identify(request)
        shown = self.view(caller)
        if caller.key is not None or shown is not EVERY_TENANT:
            refuse_other_tenants(request, caller.tenant)
        return shown

    async def __call__(self, request: Request, bearer: Bearer) -> T:  # noqa: ARG002 - told in the OpenAPI document
        return await self.admit(request)

    async def _identify(self, request: Request) -> Caller:
        known: Caller | None = getattr(request.state, "caller", None)
        if known is not None:
            known.require(self.required, "key")
            return known
        bearer = await _bearer(request)
        key = await self.authenticator.authenticate(None if bearer is None else bearer.credentials, self.required)
        if key is not None:
            structlog.contextvars.bind_contextvars(key_id=key.id)
        request.state.caller = Caller(key)
        return Caller(key)


class Access:
    """Makes FastAPI dependencies; each raises what its authenticator raises, which becomes 401, 403, 429 or 503."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    @classmethod
    def open(cls) -> Self:
        """Takes everybody for the default tenant and allows everything: for tests and tools inside one process."""
        return cls(OpenAuthenticator())

    def needs(self, required: KeyScope) -> Authorization[TenantScope]:
        """Makes a dependency that returns the tenant of the caller's key; the default tenant where no key is needed."""
        return Authorization(self._authenticator, required, lambda caller: TenantScope(caller.tenant))

    def needs_admin(self) -> Authorization[AnyTenant]:
        """Makes a dependency that returns the tenant an administrator may see; all of them where no key is needed."""
        return Authorization(self._authenticator, KeyScope.ADMIN, view_as_admin)

    def needs_operator(self) -> Authorization[AnyTenant]:
        """Makes a dependency for what concerns the whole installation and can be split by no tenant."""
        return Authorization(self._authenticator, KeyScope.ADMIN, view_as_operator)


def view_as_admin(caller: Caller) -> AnyTenant:
    return EVERY_TENANT if caller.key is None else TenantScope(caller.key.tenant)


def view_as_operator(caller: Caller) -> AnyTenant:
    """Raises Forbidden for administrators of other tenants than the default one."""
    if not is_operator(caller.key):
        raise Forbidden(f"this is about the whole installation: it needs an admin key of tenant {DEFAULT_TENANT!r}")
    return view_as_admin(caller)


def is_operator(key: ApiKey | None) -> bool:
    """Says whether a caller looks after the whole installation: also whoever needs no key does."""
    return key is None or key.is_operator


def get_caller(request: Request) -> Caller:
    """Returns who was admitted to the route of this request."""
    caller: Caller = request.state.caller
    return caller


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
