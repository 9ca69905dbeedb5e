"""Documents over HTTP: write and remove them one by one or in batches, find them, rule on their trust."""

from http import HTTPStatus
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from lithify.access import KeyScope
from lithify.assembly.docs.schema import (
    BatchAnswer,
    BatchInput,
    Catalogue,
    Digests,
    DocInput,
    DocSearchRequest,
    DocSearchResponse,
    DocView,
    DocWritten,
    LaneView,
    PromotionInput,
    Removed,
    ReplayView,
    Rulings,
    RulingView,
)
from lithify.assembly.docs.service import DocsService
from lithify.docs.sources import MAX_REPO, DocKind, SourceKind
from lithify.events import TenantScope
from lithify.http import JsonRoute
from lithify.http.authorization import Access, calling_key

PLAIN: Final = ("text/markdown", "text/plain", "text/x-markdown", "text/x-rst")
JSON: Final = "application/json"
BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            PLAIN[0]: {"schema": {"type": "string"}},
            JSON: {"schema": DocInput.model_json_schema()},
        },
    }
}

RepoName = Annotated[str, Path(pattern=r"^[\w.-]+$", max_length=MAX_REPO)]


def docs_router(service: DocsService, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1/docs", tags=["docs"], route_class=JsonRoute)
    add_reading(router, service, Depends(access.needs(KeyScope.READ)))
    add_writing(router, service, Depends(access.needs(KeyScope.ADMIN)))
    return router


def add_reading(router: APIRouter, service: DocsService, reader: Any) -> None:
    @router.get("")
    async def list_repositories(caller: TenantScope = reader) -> Catalogue:
        """List the repositories with their version, their documents and chunks, and when they were synced."""
        return await service.catalogue(caller)

    @router.get("/lane")
    async def show_lane(caller: TenantScope = reader) -> LaneView:
        """Show what the scheduled refresh and benchmark found, and when something had become worse."""
        return await service.lane(caller)

    @router.post("/search")
    async def search_documents(request: DocSearchRequest, caller: TenantScope = reader) -> DocSearchResponse:
        """Find chunks by their words, by their meaning, or by both; the trace tells why."""
        return await service.find(caller, request)

    @router.post("/search/{trace_id}:replay", responses={404: {}})
    async def replay_search(trace_id: Annotated[str, Path(max_length=64)], caller: TenantScope = reader) -> ReplayView:
        """Ask the same again as of the same moment, and compare."""
        replay = await service.replay(caller, trace_id)
        return ReplayView(same=replay.same, corpus_same=replay.corpus_same, differences=list(replay.differences))

    @router.get("/{repo}:digests")
    async def list_digests(repo: RepoName, caller: TenantScope = reader) -> Digests:
        """List what is stored of a repository, so that a sync sends only what differs."""
        return await service.digests(caller, repo)

    @router.get("/{repo}:rulings")
    async def list_rulings(repo: RepoName, caller: TenantScope = reader) -> Rulings:
        """List who promoted or demoted which document, and why."""
        return Rulings(rulings=await service.rulings(caller, repo))

    @router.get("/{repo}/{path:path}", responses={404: {}})
    async def show_document(repo: RepoName, path: str, caller: TenantScope = reader) -> DocView:
        """Show one document with its chunks, their references and lines."""
        return await service.show(caller, repo, path)


def add_writing(router: APIRouter, service: DocsService, admin: Any) -> None:
    @router.post("/{repo}:batch")
    async def write_batch(repo: RepoName, batch: BatchInput, caller: TenantScope = admin) -> BatchAnswer:
        """Write and remove many documents, each with its own result; found by their words when the call returns."""
        return await service.batch(caller, repo, batch)

    @router.post("/{repo}/{path:path}:promote", responses={404: {}})
    async def promote_document(
        repo: RepoName, path: str, wanted: PromotionInput, caller: TenantScope = admin
    ) -> RulingView:
        """Rule that a document may or may not be quoted as trusted; the ruling is kept."""
        return await service.rule(caller, repo, path, wanted, key_id=calling_key())

    @router.put("/{repo}/{path:path}", responses={201: {"model": DocWritten}, 415: {}}, openapi_extra=BODY)
    async def put_document(
        repo: RepoName,
        path: str,
        request: Request,
        response: Response,
        kind: Annotated[DocKind | None, Query(description="For plain bodies; the path decides if unset.")] = None,
        source_kind: Annotated[SourceKind, Query(description="For plain bodies.")] = "operator",
        caller: TenantScope = admin,
    ) -> DocWritten:
        """Write or replace one document; it is found by its words when the call returns."""
        item = await service.put(caller, repo, path, await read_document(request, kind, source_kind))
        if item.status == "added":
            response.status_code = HTTPStatus.CREATED
        return DocWritten(repo=repo, **item.model_dump())

    @router.delete("/{repo}/{path:path}", responses={404: {}})
    async def remove_document(repo: RepoName, path: str, caller: TenantScope = admin) -> Removed:
        """Remove one document with all its chunks."""
        await service.remove(caller, repo, path)
        return Removed(repo=repo, removed=1)

    @router.delete("/{repo}", responses={404: {}})
    async def remove_repository(repo: RepoName, caller: TenantScope = admin) -> Removed:
        """Remove all documents of a repository."""
        return Removed(repo=repo, removed=await service.clear(caller, repo))


async def read_document(request: Request, kind: DocKind | None, source_kind: SourceKind) -> DocInput:
    """Reads the document of a request, as JSON or as it is. Raises what becomes 400, 415 or 422."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    try:
        if media_type in PLAIN:
            return DocInput(text=body.decode(), kind=kind, source_kind=source_kind)
        if media_type == JSON:
            return DocInput.model_validate(orjson.loads(body))
    except (UnicodeDecodeError, orjson.JSONDecodeError) as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"the body is not valid {media_type}: {error}") from error
    except ValidationError as error:
        raise RequestValidationError(error.errors()) from error
    raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send the body with content-type: {PLAIN[0]} or {JSON}")
