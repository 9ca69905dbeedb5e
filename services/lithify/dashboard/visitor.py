"""Who looks at a page: with which key, what they may see, and whether they may change anything."""

import hmac
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from lithify.access import ApiKey, Authenticator, Forbidden, KeyScope, Unauthorised, is_loopback
from lithify.dashboard.visits import TTL_S, Visits, form_mark, is_token, new_token
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope

COOKIE: Final = "lithify_dashboard"
PATH: Final = "/dashboard"


@dataclass(frozen=True, slots=True)
class Visitor:
    """`key` and `credential` are None where no key is needed: on the own machine, as long as there are no keys."""

    token: str = field(repr=False)
    key: ApiKey | None = None
    credential: str | None = field(default=None, repr=False)

    @property
    def may_act(self) -> bool:
        return self.key is None or self.key.allows(KeyScope.ADMIN)

    @property
    def scope(self) -> AnyTenant:
        """What the visitor looks after. Raises Forbidden for one who may only read."""
        if self.key is None:
            return EVERY_TENANT
        if not self.may_act:
            raise Forbidden(f"key {self.key.id} has not the scope admin, which this page needs")
        return TenantScope(self.key.tenant)

    @property
    def form_mark(self) -> str:
        return form_mark(self.token)


@dataclass(frozen=True, slots=True)
class Reception:
    authenticator: Authenticator
    visits: Visits

    async def welcome(self, request: Request) -> Visitor:
        """Raises Unauthorised for whoever has to show a key first, Forbidden for a key that may not read."""
        token = token_of(request)
        try:
            await self.authenticator.authenticate(None, KeyScope.READ)
        except Unauthorised:
            return await self._returning(token)
        refuse_rebinding(request)
        return Visitor(token or new_token())

    async def login(self, presented: str) -> str:
        """The token of a new visit. Raises Unauthorised or Forbidden."""
        await self.authenticator.authenticate(presented, KeyScope.READ)
        return await self.visits.begin(presented)

    async def _returning(self, token: str | None) -> Visitor:
        credential = None if token is None else await self.visits.key_of(token)
        if token is None or credential is None:
            raise Unauthorised("show an API key to see this page")
        # Asked every time: a key that was revoked ends its visits, too.
        key = await self.authenticator.authenticate(credential, KeyScope.READ)
        return Visitor(token, key, credential)


def token_of(request: Request) -> str | None:
    token = request.cookies.get(COOKIE, "")
    return token if is_token(token) else None


def keep_cookie(request: Request, response: Response, token: str) -> None:
    response.set_cookie(
        COOKIE, token, TTL_S, path=PATH, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )


def refuse_rebinding(request: Request) -> None:
    """Where no key is needed, a foreign page could reach us by a name of its own that leads to this machine."""
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    if not is_loopback(host):
        raise Forbidden(f"host: {host[:100]!r} is not this machine; without API keys use http://127.0.0.1 or localhost")


def refuse_foreign_forms(request: Request, visitor: Visitor, mark: str) -> None:
    """A form must come from a page of ours, shown in this very visit. Browsers name the origin of every POST."""
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin is not None and origin != own:
        raise Forbidden("origin: this form was not sent by a page of the dashboard")
    if not hmac.compare_digest(mark.encode(), visitor.form_mark.encode()):
        raise Forbidden("form: its mark does not fit this visit; reload the page and try again")
