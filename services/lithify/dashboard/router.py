"""Puts the pages, their forms and the live stream under `/dashboard`."""

from dataclasses import dataclass
from http import HTTPStatus

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.access import Authenticator
from lithify.dashboard.actions import Actions
from lithify.dashboard.desk import Desk
from lithify.dashboard.entrance import Entrance
from lithify.dashboard.live import Live
from lithify.dashboard.memory_api import MemoryApi
from lithify.dashboard.memory_pages import MemoryPages
from lithify.dashboard.operations_pages import OperationsPages
from lithify.dashboard.operations_routes import Operations
from lithify.dashboard.pages import guarded, load_pages, static_file
from lithify.dashboard.visitor import PATH, Reception
from lithify.dashboard.visits import Visits
from lithify.events import Clock
from lithify.http import NotFound
from lithify.streams import DeadLetters


@dataclass(frozen=True, slots=True)
class Dashboard:
    """What the pages need to work."""

    authenticator: Authenticator
    visits: Visits
    operations: Operations
    letters: DeadLetters
    memory: MemoryApi
    clock: Clock


def dashboard_router(parts: Dashboard) -> APIRouter:
    """Pages are no part of the documented interface: what they show and do is there in routes of its own."""
    pages = load_pages()
    desk = Desk(Reception(parts.authenticator, parts.visits), pages)
    router = APIRouter()
    _add_operations(router, desk, OperationsPages(pages, parts.operations, parts.letters))
    _add_memory(router, desk, MemoryPages(pages, parts.memory, parts.clock))
    _add_actions(router, desk, Actions(parts.operations, parts.letters))
    entrance = Entrance(desk)
    router.add_route(f"{PATH}/login", entrance.show, ["GET"], include_in_schema=False)
    router.add_route(f"{PATH}/login", entrance.enter, ["POST"], include_in_schema=False)
    router.add_route(f"{PATH}/logout", desk.shows(entrance.leave), ["POST"], include_in_schema=False)
    router.add_route(f"{PATH}/live", desk.shows(Live(parts.operations.pulse).stream), ["GET"], include_in_schema=False)
    router.add_route(f"{PATH}/static/{{name}}", send_static, ["GET"], include_in_schema=False)
    router.add_route(f"{PATH}/", to_start, ["GET"], include_in_schema=False)
    return router


def _add_operations(router: APIRouter, desk: Desk, pages: OperationsPages) -> None:
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
        router.add_route(f"{PATH}{path}", desk.shows(page), ["GET"], include_in_schema=False)


def _add_memory(router: APIRouter, desk: Desk, pages: MemoryPages) -> None:
    shown = {
        "/memory": pages.search,
        "/sessions": pages.session,
        "/playground": pages.playground,
        "/docs": pages.docs,
    }
    for path, page in shown.items():
        router.add_route(f"{PATH}{path}", desk.shows(page), ["GET"], include_in_schema=False)


def _add_actions(router: APIRouter, desk: Desk, actions: Actions) -> None:
    done = {
        "/dead-letters:redrive": actions.redrive,
        "/dead-letters:purge": actions.purge,
        "/jobs/{job_id}:retry": actions.retry,
    }
    for path, action in done.items():
        router.add_route(f"{PATH}{path}", desk.does(action), ["POST"], include_in_schema=False)


async def send_static(request: Request) -> Response:
    found = static_file(request.path_params["name"])
    if found is None:
        raise NotFound("the dashboard has no such file")
    return found


async def to_start(_request: Request) -> Response:
    return guarded(RedirectResponse(PATH, HTTPStatus.PERMANENT_REDIRECT))
