"""Logging in with an API key, and out again."""

from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Forbidden, Unauthorised
from lithify.dashboard.desk import Desk, first, read_form
from lithify.dashboard.pages import guarded
from lithify.dashboard.visitor import COOKIE, PATH, Visitor, keep_cookie, refuse_foreign_forms, token_of
from lithify.dashboard.visits import new_token
from lithify.errors import LithifyError

MAX_KEY_CHARS = 200


@dataclass(frozen=True, slots=True)
class Entrance:
    desk: Desk

    async def show(self, request: Request) -> Response:
        return self._form(request, place_inside(request.query_params.get("next", "")))

    async def enter(self, request: Request) -> Response:
        """The mark of the form belongs to the cookie that came with it: nobody is logged in by a foreign page."""
        stranger = Visitor(token_of(request) or new_token())
        try:
            form = await read_form(request)
            refuse_foreign_forms(request, stranger, first(form, "mark"))
        except LithifyError as error:
            return guarded(self.desk.refused(error, None))
        place = place_inside(first(form, "next"))
        try:
            token = await self.desk.reception.login(first(form, "key").strip()[:MAX_KEY_CHARS])
        except (Unauthorised, Forbidden) as error:
            return self._form(request, place, str(error))
        except LithifyError as error:
            return guarded(self.desk.refused(error, None))
        response = guarded(RedirectResponse(f"{PATH}{place}", HTTPStatus.SEE_OTHER))
        keep_cookie(request, response, token)
        return response

    async def leave(self, request: Request, visitor: Visitor) -> Response:
        form = await read_form(request)
        refuse_foreign_forms(request, visitor, first(form, "mark"))
        await self.desk.reception.visits.end(visitor.token)
        response = RedirectResponse(f"{PATH}/login", HTTPStatus.SEE_OTHER)
        response.delete_cookie(COOKIE, PATH)
        return response

    def _form(self, request: Request, place: str, refusal: str | None = None) -> Response:
        stranger = Visitor(token_of(request) or new_token())
        status = HTTPStatus.OK if refusal is None else HTTPStatus.FORBIDDEN
        response = self.desk.pages.draw("login", None, status, mark=stranger.form_mark, next=place, refusal=refusal)
        keep_cookie(request, response, stranger.token)
        return guarded(response)


def place_inside(wanted: str) -> str:
    """A path below the dashboard; anything else would lead visitors away."""
    inside = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if inside else ""
