"""Puts routers into one application with the shared limits and error form, and describes it."""

from collections.abc import Sequence
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import JSONResponse

from lithify.access import KeyScope
from lithify.http import problem
from lithify.http.authorization import Access
from lithify.http.body import BodyLimit


def create_app(title: str, routers: Sequence[APIRouter], max_body_bytes: int) -> FastAPI:
    # The reference is a router of ours: the framework's own would tell everybody.
    app = FastAPI(title=title, version=version("lithify"), redirect_slashes=False, openapi_url=None)
    for router in routers:
        app.include_router(router)
    problem.install(app)
    app.add_middleware(BodyLimit, limit=max_body_bytes)
    return app


def reference_router(access: Access) -> APIRouter:
    """Makes the routes that describe the application they are part of, to whoever may read there."""
    router = APIRouter(dependencies=[Depends(access.needs(KeyScope.READ))], include_in_schema=False)

    @router.get("/openapi.json")
    async def document(request: Request) -> Response:
        return JSONResponse(request.app.openapi())

    @router.get("/docs")
    async def page() -> Response:
        return get_swagger_ui_html(openapi_url="openapi.json", title="Lithify")

    return router
