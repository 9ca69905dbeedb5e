"""Puts routers into one application with the shared limits and error form."""

from collections.abc import Sequence
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from lithify.http import problem
from lithify.http.body import BodyLimit
from lithify.http.origin import KeylessRule, OriginCheck


def create_app(
    title: str, routers: Sequence[APIRouter], max_body_bytes: int, keyless: KeylessRule | None = None
) -> FastAPI:
    """Makes the application; with `keyless`, foreign web pages are refused as long as no key is needed."""
    # The reference is a router of ours: the framework's own would tell everybody.
    app = FastAPI(title=title, version=version("lithify"), redirect_slashes=False, openapi_url=None)
    for router in routers:
        app.include_router(router)
    problem.install(app)
    app.add_middleware(BodyLimit, limit=max_body_bytes)
    if keyless is not None:
        app.add_middleware(OriginCheck, rule=keyless)
    return app
