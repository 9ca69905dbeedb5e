"""Guards every page and every form: who asks, may they, and how a refusal looks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, quote

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Forbidden, Unauthorised
from lithify.dashboard.authentication import (
    CSRF_FIELD,
    PATH,
    Authentication,
    Viewer,
    check_csrf,
    session_token,
    set_session_cookie,
)
from lithify.dashboard.pages import Pages, add_security_headers
from lithify.errors import Invalid, LithifyError
from lithify.http.problem import STATUS_OF

# As many letters as a page can show, and what a form carries beside them.
MAX_FIELDS: Final = 512
MAX_FORM_BYTES: Final = 64 * 1024

Form = dict[str, list[str]]
Endpoint = Callable[[Request], Awaitable[Response]]
ShowPage = Callable[[Request, Viewer], Awaitable[Response]]
PerformAction = Callable[[Viewer, Request, Form], Awaitable[str]]
"""Does what a form asks for and returns which page shows the outcome."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class PageGuard:
    """Makes endpoints of pages and forms that only authenticated viewers reach."""

    authentication: Authentication
    pages: Pages

    def protect_page(self, show: ShowPage) -> Endpoint:
        async def answer(request: Request) -> Response:
            return await self._answer(request, show)

        return answer

    def protect_action(self, act: PerformAction) -> Endpoint:
        """Lets administrators act, from a form of ours only."""

        async def perform(request: Request, viewer: Viewer) -> Response:
            form = await read_form(request)
            check_csrf(request, viewer, first(form, CSRF_FIELD))
            if not viewer.may_act:
                raise Forbidden("this needs an API key with the scope admin; yours may only read")
            target = await act(viewer, request, form)
            log.info("dashboard_action", path=request.url.path, key_id=viewer.key.id if viewer.key else None)
            return RedirectResponse(f"{PATH}{target}", HTTPStatus.SEE_OTHER)

        return self.protect_page(perform)

    def draw_error(self, error: LithifyError, viewer: Viewer | None) -> Response:
        status = status_of(error)
        return self.pages.draw("error", viewer, status, title=status.phrase, message=str(error))

    async def _answer(self, request: Request, show: ShowPage) -> Response:
        viewer: Viewer | None = None
        try:
            viewer = await self.authentication.authenticate(request)
            response = await show(request, viewer)
        except Unauthorised:
            return add_security_headers(RedirectResponse(login_url(request), HTTPStatus.SEE_OTHER))
        except LithifyError as error:
            response = self.draw_error(error, viewer)
        if viewer is not None and viewer.token != session_token(request):
            set_session_cookie(request, response, viewer.token)
        return add_security_headers(response)


def status_of(error: LithifyError) -> HTTPStatus:
    return next((status for kind, status in STATUS_OF if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


def login_url(request: Request) -> str:
    """Returns the login page that leads back to where the viewer wanted to go; never to another place."""
    wanted = request.url.path.removeprefix(PATH) if request.method == "GET" else ""
    query = f"?{request.url.query}" if wanted and request.url.query else ""
    return f"{PATH}/login?next={quote(wanted + query, safe='')}"


async def read_form(request: Request) -> Form:
    """Raises Invalid for what no form of ours could be."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            raise Invalid(f"form: must not exceed {MAX_FORM_BYTES} bytes")
    try:
        return parse_qs(body.decode(), max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise Invalid(f"form: cannot be read: {error}") from error


def first(form: Form, name: str, default: str = "") -> str:
    return form.get(name, [default])[0]
