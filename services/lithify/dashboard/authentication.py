"""Authenticates browsers: who looks at a page, with which key, what they may do, and that a form is theirs (CSRF)."""

import hmac
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from lithify.access import ApiKey, Authenticator, Forbidden, KeyScope, Unauthorised
from lithify.dashboard.browser_sessions import TTL_S, BrowserSessions, csrf_token, is_token, new_token
from lithify.events import EVERY_TENANT, AnyTenant, TenantScope
from lithify.http.authorization import is_operator
from lithify.http.origin import is_same_origin

COOKIE: Final = "lithify_dashboard"
PATH: Final = "/dashboard"
CSRF_FIELD: Final = "csrf_token"


@dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody who looks at a page, under the token of the browser session.

    `key` and `credential` are None where no key is needed: on the own machine, as long as there are no keys.
    """

    token: str = field(repr=False)
    key: ApiKey | None = None
    credential: str | None = field(default=None, repr=False)

    @property
    def may_act(self) -> bool:
        return self.key is None or self.key.allows(KeyScope.ADMIN)

    @property
    def is_operator(self) -> bool:
        """Says whether figures of the whole installation may be shown."""
        return is_operator(self.key)

    def require_operator(self) -> None:
        """Raises Forbidden for whoever sees the own tenant only."""
        if not self.is_operator:
            raise Forbidden("this page is about the whole installation: it needs an admin key of tenant default")

    @property
    def scope(self) -> AnyTenant:
        """Returns whose jobs and letters the viewer looks after. Raises Forbidden for one who may only read."""
        if self.key is None:
            return EVERY_TENANT
        if not self.may_act:
            raise Forbidden(f"key {self.key.id} has not the scope admin, which this page needs")
        return TenantScope(self.key.tenant)

    @property
    def csrf_token(self) -> str:
        return csrf_token(self.token)


@dataclass(frozen=True, slots=True)
class Authentication:
    """Recognises viewers by the session cookie of their browser, and logs them in by API key."""

    authenticator: Authenticator
    sessions: BrowserSessions

    async def authenticate(self, request: Request) -> Viewer:
        """Raises Unauthorised for whoever has to log in first, Forbidden for a key that may not read."""
        token = session_token(request)
        try:
            await self.authenticator.authenticate(None, KeyScope.READ)
        except Unauthorised:
            return await self._resume(token)
        return Viewer(token or new_token())

    async def log_in(self, presented: str) -> str:
        """Returns the token of a new session. Raises Unauthorised or Forbidden."""
        await self.authenticator.authenticate(presented, KeyScope.READ)
        return await self.sessions.begin(presented)

    async def _resume(self, token: str | None) -> Viewer:
        credential = None if token is None else await self.sessions.find_api_key(token)
        if token is None or credential is None:
            raise Unauthorised("show an API key to see this page")
        # Asked every time: a key that was revoked ends its sessions, too.
        key = await self.authenticator.authenticate(credential, KeyScope.READ)
        return Viewer(token, key, credential)


def session_token(request: Request) -> str | None:
    token = request.cookies.get(COOKIE, "")
    return token if is_token(token) else None


def set_session_cookie(request: Request, response: Response, token: str) -> None:
    response.set_cookie(
        COOKIE, token, TTL_S, path=PATH, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )


def check_csrf(request: Request, viewer: Viewer, sent: str) -> None:
    """Raises Forbidden unless the form comes from a page of ours, shown in this very browser session.

    Browsers name the origin of every POST; `sent` is the CSRF token that came with the form.
    """
    if not is_same_origin(request.headers):
        raise Forbidden("origin: this form was not sent by a page of the dashboard")
    if not hmac.compare_digest(sent.encode(), viewer.csrf_token.encode()):
        raise Forbidden("form: its CSRF token does not belong to this session; reload the page and try again")
