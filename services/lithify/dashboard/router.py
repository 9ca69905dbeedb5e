"""Puts the pages, their forms and the live stream under `/dashboard`."""

from dataclasses import dataclass
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Authenticator
from lithify.dashboard.authentication import PATH, Authentication
from lithify.dashboard.board import LiveFigures
from lithify.dashboard.browser_sessions import BrowserSessions
from lithify.dashboard.login_pages import LoginPages
from lithify.dashboard.memory_pages import MemoryApi, MemoryPages
from lithify.dashboard.operations_pages import OperationsActions, OperationsPages
from lithify.dashboard.page_guard import PageGuard
from lithify.dashboard.pages import add_security_headers, load_pages, static_file
from lithify.events import Clock
from lithify.http import NotFound
from lithify.monitoring.jobs import BackgroundJobs
from lithify.monitoring.pulse import Pulse
from lithify.streams import DeadLetters


@dataclass(frozen=True, slots=True)
class Dashboard:
    """The parts that the pages work with."""

    authenticator: Authenticator
    sessions: BrowserSessions
    pulse: Pulse
    jobs: BackgroundJobs
    letters: DeadLetters
    memory: MemoryApi
    clock: Clock


def dashboard_router(parts: Dashboard) -> APIRouter:
    """Makes the routes of the pages, which the documented interface leaves out: what they do has routes of its own."""
    pages = load_pages()
    guard = PageGuard(Authentication(parts.authenticator, parts.sessions), pages)
    router = APIRouter()
    _add_operations(router, guard, OperationsPages(pages, parts.pulse, parts.jobs, parts.letters))
    _add_memory(router, guard, MemoryPages(pages, parts.memory, parts.clock))
    _add_actions(router, guard, OperationsActions(parts.jobs, parts.letters))
    login = LoginPages(guard)
    router.add_route(f"{PATH}/login", login.show_form, ["GET"], include_in_schema=False)
    router.add_route(f"{PATH}/login", login.log_in, ["POST"], include_in_schema=False)
    router.add_route(f"{PATH}/logout", guard.protect_page(login.log_out), ["POST"], include_in_schema=False)
    router.add_route(
        f"{PATH}/live", guard.protect_page(LiveFigures(parts.pulse).stream), ["GET"], include_in_schema=False
    )
    router.add_route(f"{PATH}/static/{{name}}", send_static, ["GET"], include_in_schema=False)
    router.add_route(f"{PATH}/", redirect_to_overview, ["GET"], include_in_schema=False)
    return router


def _add_operations(router: APIRouter, guard: PageGuard, pages: OperationsPages) -> None:
    shown = {
        "": pages.overview,
        "/streams": pages.streams,
        "/workers": pages.workers,
        "/jobs": pages.jobs,
        "/jobs/{job_id}": pages.job,
        "/dead-letters": pages.dead_letters,
        "/dead-letters/{letter_id}": pages.dead_letter,
    }
    for path, page in shown.items():
        router.add_route(f"{PATH}{path}", guard.protect_page(page), ["GET"], include_in_schema=False)


def _add_memory(router: APIRouter, guard: PageGuard, pages: MemoryPages) -> None:
    shown = {
        "/memory": pages.search,
        "/sessions": pages.session,
        "/playground": pages.playground,
        "/docs": pages.docs,
    }
    for path, page in shown.items():
        router.add_route(f"{PATH}{path}", guard.protect_page(page), ["GET"], include_in_schema=False)


def _add_actions(router: APIRouter, guard: PageGuard, actions: OperationsActions) -> None:
    done = {
        "/dead-letters:redrive": actions.redrive,
        "/dead-letters:purge": actions.purge,
        "/jobs/{job_id}:retry": actions.retry,
    }
    for path, action in done.items():
        router.add_route(f"{PATH}{path}", guard.protect_action(action), ["POST"], include_in_schema=False)


async def send_static(request: Request) -> Response:
    found = static_file(request.path_params["name"])
    if found is None:
        raise NotFound("the dashboard has no such file")
    return found


async def redirect_to_overview(_request: Request) -> Response:
    return add_security_headers(RedirectResponse(PATH, HTTPStatus.PERMANENT_REDIRECT))
