"""Readings that both engines share: records by their ids, and all that are meant, page by page."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from lithify.events import AnyTenant
from lithify.store.checks import known_ids
from lithify.store.contract import VectorStore
from lithify.store.records import Record
from lithify.store.where import Where

PAGE: Final = 512


async def fetch_in_order(
    store: VectorStore, scope: AnyTenant, collection: str, ids: Sequence[str], with_vectors: Sequence[str]
) -> list[Record]:
    wanted = known_ids(ids)
    if not wanted:
        return []
    page = await store.scroll(scope, collection, Where().ids(wanted), limit=len(wanted), with_vectors=with_vectors)
    found = {record.id: record for record in page.records}
    return [found[id_] for id_ in wanted if id_ in found]


async def every_record(
    store: VectorStore, scope: AnyTenant, collection: str, where: Where, with_vectors: Sequence[str] = ()
) -> AsyncIterator[Record]:
    """Yields all records that are meant in the order of their ids.

    What is written meanwhile may or may not be among them.
    """
    after: str | None = None
    while True:
        page = await store.scroll(scope, collection, where, limit=PAGE, after=after, with_vectors=with_vectors)
        for record in page.records:
            yield record
        if page.next is None:
            return
        after = page.next
