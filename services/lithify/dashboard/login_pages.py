"""The login page: logging in with an API key, and out again."""

from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Forbidden, Unauthorised
from lithify.dashboard.authentication import (
    COOKIE,
    CSRF_FIELD,
    PATH,
    Viewer,
    check_csrf,
    session_token,
    set_session_cookie,
)
from lithify.dashboard.browser_sessions import new_token
from lithify.dashboard.page_guard import PageGuard, first, read_form
from lithify.dashboard.pages import add_security_headers
from lithify.errors import LithifyError

MAX_KEY_CHARS = 200


@dataclass(frozen=True, slots=True)
class LoginPages:
    """Shows the login form, begins a browser session by it, and ends one."""

    guard: PageGuard

    async def show_form(self, request: Request) -> Response:
        return self._form(request, safe_path(request.query_params.get("next", "")))

    async def log_in(self, request: Request) -> Response:
        """Begins a session. The form's CSRF token belongs to its cookie: nobody is logged in by a foreign page."""
        stranger = Viewer(session_token(request) or new_token())
        try:
            form = await read_form(request)
            check_csrf(request, stranger, first(form, CSRF_FIELD))
        except LithifyError as error:
            return add_security_headers(self.guard.draw_error(error, None))
        target = safe_path(first(form, "next"))
        try:
            token = await self.guard.authentication.log_in(first(form, "key").strip()[:MAX_KEY_CHARS])
        except (Unauthorised, Forbidden) as error:
            return self._form(request, target, str(error))
        except LithifyError as error:
            return add_security_headers(self.guard.draw_error(error, None))
        response = add_security_headers(RedirectResponse(f"{PATH}{target}", HTTPStatus.SEE_OTHER))
        set_session_cookie(request, response, token)
        return response

    async def log_out(self, request: Request, viewer: Viewer) -> Response:
        form = await read_form(request)
        check_csrf(request, viewer, first(form, CSRF_FIELD))
        await self.guard.authentication.sessions.end(viewer.token)
        response = RedirectResponse(f"{PATH}/login", HTTPStatus.SEE_OTHER)
        response.delete_cookie(COOKIE, PATH)
        return response

    def _form(self, request: Request, target: str, refusal: str | None = None) -> Response:
        stranger = Viewer(session_token(request) or new_token())
        response = self.guard.pages.draw(
            "login",
            None,
            HTTPStatus.OK if refusal is None else HTTPStatus.FORBIDDEN,
            csrf_token=stranger.csrf_token,
            next=target,
            refusal=refusal,
        )
        set_session_cookie(request, response, stranger.token)
        return add_security_headers(response)


def safe_path(wanted: str) -> str:
    """Returns a path below the dashboard; an empty one for anything else, which would lead people away."""
    inside = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if inside else ""
