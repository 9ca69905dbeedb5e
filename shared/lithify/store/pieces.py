"""The pieces of long records in the store: found by their parent, and replaced together with it."""

from collections.abc import Iterable, Sequence

from lithify.events import AnyTenant
from lithify.store.contract import VectorStore
from lithify.store.memory_record import PIECE
from lithify.store.reading import every_record
from lithify.store.records import Record
from lithify.store.where import Where


def is_piece(record: Record) -> bool:
    return record.payload.get("kind") == PIECE


def where_pieces(parents: Iterable[str]) -> Where:
    return Where().any_of("parent", parents)


async def upsert_with_pieces(
    store: VectorStore, scope: AnyTenant, collection: str, records: Sequence[Record], /
) -> None:
    """Writes records and removes what was left of the pieces they had.

    An event whose receipt has expired may come again with another text, and another release may cut otherwise. May be
    repeated: what a crash leaves behind is found the next time.
    """
    made = {record.id for record in records}
    parents = [record.id for record in records if not is_piece(record)]
    stored = every_record(store, scope, collection, where_pieces(parents))
    stale = [record.id async for record in stored if record.id not in made]
    await store.upsert(scope, collection, records)
    if stale:
        await store.delete(scope, collection, Where().ids(stale))
