"""Export and import over HTTP: all records as JSON lines, and back in batches."""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from lithify.access import KeyScope
from lithify.assembly.library.export import ExportedRecord, Exporter
from lithify.assembly.library.importing import Importer
from lithify.errors import Invalid
from lithify.events import TenantScope
from lithify.events.turn import Identifier
from lithify.http import JsonRoute
from lithify.http.authorization import Access
from lithify.store.checks import canonical_id

MAX_RECORDS: Final = 512
TOTAL: Final = "X-Total-Count"
LINES: Final = "application/x-ndjson"


class ImportBatch(BaseModel):
    model_config = ConfigDict(extra="forbid")

    records: Annotated[list[ExportedRecord], Field(max_length=MAX_RECORDS, description="Lines of an export.")]


class Imported(BaseModel):
    stored: int
    embedded: int = Field(description="How many got new vectors: they had none, or those of another model.")


def export_router(exporter: Exporter, importer: Importer, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["export"], route_class=JsonRoute)
    admin = Depends(access.needs(KeyScope.ADMIN))

    @router.get("/export", response_class=StreamingResponse, responses={200: {"content": {LINES: {}}}})
    async def export_records(
        user: Annotated[Identifier | None, Query(description="Only this user's records.")] = None,
        vectors: Annotated[bool, Query(description="With the dense vectors; without, import makes them anew.")] = False,
        after: Annotated[str | None, Query(max_length=64, description="Go on behind the record of this id.")] = None,
        caller: TenantScope = admin,
    ) -> StreamingResponse:
        """Every record as a line of JSON, by id; the header X-Total-Count says how many there are."""
        if after is not None and canonical_id(after) != after:
            raise Invalid(f"after: {after!r} is not the id of a record")
        scope = TenantScope(caller.tenant, user)
        total = await exporter.count(scope)
        lines = exporter.lines(scope, after, vectors=vectors)
        # The first page is read here, while a failure can still become a status.
        body = prepend(await anext(lines), lines)
        return StreamingResponse(body, media_type=LINES, headers={TOTAL: str(total)})

    @router.post("/import")
    async def import_records(batch: ImportBatch, caller: TenantScope = admin) -> Imported:
        """Store lines of an export in the tenant of the key; doing it again changes nothing."""
        embedded = await importer.write(caller, batch.records)
        return Imported(stored=len(batch.records), embedded=embedded)

    return router


async def prepend(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for page in rest:
        yield page
