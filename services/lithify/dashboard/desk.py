"""Stands before every page and every form: who asks, may they, and how a refusal looks."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, quote

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Forbidden, Unauthorised
from lithify.dashboard.pages import Pages, guarded
from lithify.dashboard.visitor import PATH, Reception, Visitor, keep_cookie, refuse_foreign_forms, token_of
from lithify.errors import Invalid, LithifyError
from lithify.http.problem import STATUS_OF

# As many letters as a page can show, and the marks around them.
MAX_FIELDS: Final = 512
MAX_FORM_BYTES: Final = 64 * 1024

Form = dict[str, list[str]]
Endpoint = Callable[[Request], Awaitable[Response]]
Show = Callable[[Request, Visitor], Awaitable[Response]]
Act = Callable[[Visitor, Request, Form], Awaitable[str]]
"""Does what a form asks for and says which page shows the outcome."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Desk:
    reception: Reception
    pages: Pages

    def shows(self, show: Show) -> Endpoint:
        async def answer(request: Request) -> Response:
            return await self._answered(request, show)

        return answer

    def does(self, act: Act) -> Endpoint:
        """For administrators only, from a form of ours only."""

        async def perform(request: Request, visitor: Visitor) -> Response:
            form = await read_form(request)
            refuse_foreign_forms(request, visitor, first(form, "mark"))
            if not visitor.may_act:
                raise Forbidden("this needs an API key with the scope admin; yours may only read")
            target = await act(visitor, request, form)
            log.info("dashboard_action", path=request.url.path, key_id=visitor.key.id if visitor.key else None)
            return RedirectResponse(f"{PATH}{target}", HTTPStatus.SEE_OTHER)

        return self.shows(perform)

    def refused(self, error: LithifyError, visitor: Visitor | None) -> Response:
        status = status_of(error)
        return self.pages.draw("error", visitor, status, title=status.phrase, told=str(error))

    async def _answered(self, request: Request, show: Show) -> Response:
        visitor: Visitor | None = None
        try:
            visitor = await self.reception.welcome(request)
            response = await show(request, visitor)
        except Unauthorised:
            return guarded(RedirectResponse(login_url(request), HTTPStatus.SEE_OTHER))
        except LithifyError as error:
            response = self.refused(error, visitor)
        if visitor is not None and visitor.token != token_of(request):
            keep_cookie(request, response, visitor.token)
        return guarded(response)


def status_of(error: LithifyError) -> HTTPStatus:
    return next((status for kind, status in STATUS_OF if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


def login_url(request: Request) -> str:
    """Leads back to where the visitor wanted to go; never to another place."""
    wanted = request.url.path.removeprefix(PATH) if request.method == "GET" else ""
    query = f"?{request.url.query}" if wanted and request.url.query else ""
    return f"{PATH}/login?next={quote(wanted + query, safe='')}"


async def read_form(request: Request) -> Form:
    """Raises Invalid for what no form of ours could be."""
    body = await request.body()
    if len(body) > MAX_FORM_BYTES:
        raise Invalid(f"form: must not exceed {MAX_FORM_BYTES} bytes")
    try:
        return parse_qs(body.decode(), max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise Invalid(f"form: cannot be read: {error}") from error


def first(form: Form, name: str, default: str = "") -> str:
    return form.get(name, [default])[0]
