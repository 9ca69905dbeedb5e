"""The reference of the HTTP interface: its OpenAPI document for readers, and a page that shows it without a network."""

from pathlib import Path
from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from lithify.access import KeyScope
from lithify.http.authorization import Access
from lithify.http.problem import NotFound

STATIC: Final = Path(__file__).parent / "static"
FILES: Final = {"reference.css": "text/css", "reference.js": "text/javascript"}
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def reference_router(access: Access) -> APIRouter:
    """Makes the routes that describe the application they are part of.

    The page is the same for everybody and says nothing by itself: once there are keys it asks for one, and shows the
    document that the key may read. It keeps the key for as long as it is open.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/openapi.json", dependencies=[Depends(access.needs(KeyScope.READ))])
    async def document(request: Request) -> Response:
        return JSONResponse(request.app.openapi())

    @router.get("/docs")
    async def page() -> Response:
        return send_file("reference.html", "text/html")

    @router.get("/docs/{name}")
    async def part(name: str) -> Response:
        if name not in FILES:
            raise NotFound("the reference has no such file")
        return send_file(name, FILES[name])

    return router


def send_file(name: str, media_type: str) -> Response:
    return Response((STATIC / name).read_bytes(), headers=HEADERS, media_type=media_type)
