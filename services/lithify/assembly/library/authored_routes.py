"""Authored documents over HTTP: put, read, list and remove."""

from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from lithify.access import KeyScope
from lithify.assembly.library.schema import (
    DocumentInput,
    DocumentList,
    DocumentRemoved,
    DocumentSummary,
    DocumentView,
    DocumentWritten,
    Node,
    TierSizes,
)
from lithify.authored import AuthoredDocuments, Origin, TooLarge, WrittenDocument
from lithify.events import TenantScope
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access

MARKDOWN: Final = ("text/markdown", "text/plain", "text/x-markdown")
JSON: Final = "application/json"
BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            MARKDOWN[0]: {"schema": {"type": "string"}},
            JSON: {"schema": DocumentInput.model_json_schema()},
        },
    }
}


def authored_router(documents: AuthoredDocuments, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1/authored", tags=["authored"], route_class=JsonRoute)
    add_reading(router, documents, Depends(access.needs(KeyScope.READ)))
    add_writing(router, documents, Depends(access.needs(KeyScope.ADMIN)))
    return router


def add_reading(router: APIRouter, documents: AuthoredDocuments, reader: Any) -> None:
    @router.get("")
    async def list_documents(caller: TenantScope = reader) -> DocumentList:
        """List all authored documents of the tenant, by name."""
        found = await documents.all(caller)
        return DocumentList(documents=[DocumentSummary.of(one, core=one.name in documents.core) for one in found])

    @router.get("/{name:path}", responses={404: {}})
    async def show_document(name: str, caller: TenantScope = reader) -> DocumentView:
        """Show one document as written, and the tiers its pieces fall into."""
        found = await documents.find(caller, name)
        if found is None:
            raise document_not_found(name)
        parts = await documents.parts(name, found.raw)
        summary = DocumentSummary.of(found, core=name in documents.core)
        nodes = [Node.of(node) for node in parts.nodes]
        return DocumentView(**summary.model_dump(), text=found.text, nodes=nodes)


def add_writing(router: APIRouter, documents: AuthoredDocuments, admin: Any) -> None:
    @router.put("/{name:path}", responses={201: {"model": DocumentWritten}, 413: {}, 415: {}}, openapi_extra=BODY)
    async def put_document(
        name: str, request: Request, response: Response, caller: TenantScope = admin
    ) -> DocumentWritten:
        """Write or replace a document; its rules are in force and its text is searchable when the call returns."""
        written = await write_document(documents, caller, name, await read_markdown(request))
        if written.created:
            response.status_code = HTTPStatus.CREATED
        summary = DocumentSummary.of(written.document, core=name in documents.core)
        return DocumentWritten(**summary.model_dump(), changed=written.changed, nodes=TierSizes.of(written.parts))

    @router.delete("/{name:path}", responses={404: {}})
    async def remove_document(name: str, caller: TenantScope = admin) -> DocumentRemoved:
        """Remove a document; its rules bind nobody when the call returns."""
        if not await documents.delete(caller, name):
            raise document_not_found(name)
        return DocumentRemoved(name=name)


async def write_document(documents: AuthoredDocuments, scope: TenantScope, name: str, raw: bytes) -> WrittenDocument:
    try:
        return await documents.put(scope, name, raw, Origin.API)
    except TooLarge as error:
        raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, str(error)) from error


async def read_markdown(request: Request) -> bytes:
    """Reads the document of a request, in either of its two forms."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in MARKDOWN:
        return await request.body()
    if media_type != JSON:
        wanted = f"send the body with content-type: {MARKDOWN[0]} or {JSON}"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, wanted)
    return parse_document(await request.body()).text.encode()


def parse_document(body: bytes) -> DocumentInput:
    try:
        return DocumentInput.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the body is not valid JSON: {error}") from error
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error


def document_not_found(name: str) -> NotFound:
    return NotFound(f"name: there is no authored document {name!r}")
