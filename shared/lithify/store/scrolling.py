"""Reads all records that are meant, page by page, so that no caller keeps a cursor of its own."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from lithify.events import AnyTenant
from lithify.store.contract import VectorStore
from lithify.store.records import Record
from lithify.store.where import Where

PAGE: Final = 512


async def every_record(
    store: VectorStore, scope: AnyTenant, collection: str, where: Where, with_vectors: Sequence[str] = ()
) -> AsyncIterator[Record]:
    """In the order of their ids; what is written meanwhile may or may not be among them."""
    after: str | None = None
    while True:
        page = await store.scroll(scope, collection, where, limit=PAGE, after=after, with_vectors=with_vectors)
        for record in page.records:
            yield record
        if page.next is None:
            return
        after = page.next
