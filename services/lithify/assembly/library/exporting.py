"""Reads all records of a tenant or user as lines, by their ids, so that reading can go on after a break."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from lithify.assembly.library.export_line import Link, export_line
from lithify.events import TenantScope
from lithify.store import TIER_NAMES, Record, VectorStore, Where
from lithify.store.memory import COLLECTION
from lithify.store.migration import linked_ids

PAGE: Final = 256


@dataclass(frozen=True, slots=True)
class Exporter:
    store: VectorStore

    async def count(self, scope: TenantScope) -> int:
        return await self.store.count(scope, COLLECTION, Where())

    async def lines(self, scope: TenantScope, after: str | None, *, vectors: bool) -> AsyncIterator[bytes]:
        """Page by page, what lies behind the record `after`. Records written meanwhile may or may not be among them."""
        names, last = TIER_NAMES if vectors else (), after
        while True:
            page = await self.store.scroll(scope, COLLECTION, Where(), limit=PAGE, after=last, with_vectors=names)
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
        known = {record.id: link for record in found if (link := Link.to(record))}
        return b"".join(
            export_line(record, {id_: known[id_] for id_ in wanted[record.id] if id_ in known}) for record in records
        )
