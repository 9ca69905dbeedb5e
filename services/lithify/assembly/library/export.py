"""All records of a tenant or user as lines, with all that another installation needs to store them anew."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from lithify.assembly.library.import_law import check_record
from lithify.events import TenantScope
from lithify.events.turn import MAX_TS_MS, Text
from lithify.store import TIER_NAMES, Record, Vector, VectorStore, point_id
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES
from lithify.store.migration import NATURAL_KEYS, linked_ids

# What people look for comes first; the rest follows by name.
FIRST: Final = ("kind", "tenant", "user", "session", "event_id", "role", "ts", "text", "active")
PAGE: Final = 256
REQUIRED: Final = ("kind", "user", "text", "ts")


class Link(BaseModel):
    """Names a record wherever it is stored; its id differs with tenant and model."""

    model_config = ConfigDict(frozen=True)

    kind: str
    key: str

    @classmethod
    def to_record(cls, record: Record) -> Self | None:
        kind = str(record.payload.get("kind"))
        try:
            return cls(kind=kind, key=NATURAL_KEYS[kind](record.payload))
        except (LookupError, TypeError, ValueError):
            return None

    def id_in(self, tenant: str, family: str) -> str:
        return point_id(tenant, self.kind, self.key, family)


class ExportedRecord(BaseModel):
    """One line of an export. Everything but these fields is the record's payload, of which known ones are checked."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str = Field(max_length=64)
    kind: str = Field(min_length=1, max_length=64)
    user: str = Field(max_length=256, description="Empty for what belongs to all users of the tenant.")
    text: Text
    ts: int = Field(ge=0, le=MAX_TS_MS)
    links: dict[str, Link] = Field(default_factory=dict, description="What ids in the payload stand for.")
    vectors: dict[str, list[float]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_a_memory(self) -> Self:
        checked = check_record(self.payload())
        self.__pydantic_extra__ = {name: value for name, value in checked.items() if name not in REQUIRED}
        return self

    def payload(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in REQUIRED} | (self.model_extra or {})

    def tiers(self) -> dict[str, Vector]:
        return {name: np.array(values, np.float32) for name, values in self.vectors.items()}


def export_line(record: Record, links: Mapping[str, Link]) -> bytes:
    payload = record.payload
    line: dict[str, Any] = {"id": record.id}
    line |= {name: payload[name] for name in FIRST if name in payload}
    line |= {name: payload[name] for name in sorted(payload) if name not in FIRST}
    if links:
        line["links"] = {id_: link.model_dump() for id_, link in links.items()}
    if record.vectors:
        line["vectors"] = {
            name: np.asarray(record.vectors[name], np.float32) for name in TIER_NAMES if name in record.vectors
        }
    return orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)


@dataclass(frozen=True, slots=True)
class Exporter:
    """Reads all records of a tenant or user by their ids, so that reading can go on after a break.

    Pieces of long texts are left out: importing makes them anew.
    """

    store: VectorStore

    async def count(self, scope: TenantScope) -> int:
        return await self.store.count(scope, COLLECTION, WITHOUT_PIECES)

    async def lines(self, scope: TenantScope, after: str | None, *, vectors: bool) -> AsyncIterator[bytes]:
        """Yields page by page what lies behind the record `after`; records written meanwhile may be missing."""
        names = TIER_NAMES if vectors else ()
        last = after
        while True:
            page = await self.store.scroll(
                scope, COLLECTION, WITHOUT_PIECES, limit=PAGE, after=last, with_vectors=names
            )
            records = [record for record in page.records if record.id != after]
            yield await self._page(scope, records)
            if page.next is None:
                return
            last = page.next

    async def _page(self, scope: TenantScope, records: Sequence[Record]) -> bytes:
        wanted = {record.id: linked_ids(record.payload) for record in records}
        tenant = TenantScope(scope.tenant)
        ids = list({id_ for links in wanted.values() for id_ in links})
        found = await self.store.fetch(tenant, COLLECTION, ids) if ids else []
        known = {record.id: link for record in found if (link := Link.to_record(record))}
        return b"".join(
            export_line(record, {id_: known[id_] for id_ in wanted[record.id] if id_ in known}) for record in records
        )
