"""The reference of the HTTP surface: the OpenAPI document, and a page that draws it."""

from fastapi import APIRouter, Depends, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import JSONResponse

from lithify.access import KeyScope
from lithify.http.access import Access


def reference_router(access: Access) -> APIRouter:
    """Describes the application it is part of, to whoever may read there."""
    router = APIRouter(dependencies=[Depends(access.needs(KeyScope.READ))], include_in_schema=False)

    @router.get("/openapi.json")
    async def document(request: Request) -> Response:
        return JSONResponse(request.app.openapi())

    @router.get("/docs")
    async def page() -> Response:
        return get_swagger_ui_html(openapi_url="openapi.json", title="Lithify")

    return router
