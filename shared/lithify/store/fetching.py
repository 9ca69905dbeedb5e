"""Reading records by id, built on the scroll of either engine so that a scope confines it too."""

from collections.abc import Sequence

from lithify.events import AnyTenant
from lithify.store.checks import known_ids
from lithify.store.contract import VectorStore
from lithify.store.records import Record
from lithify.store.where import Where


async def fetch_in_order(
    store: VectorStore, scope: AnyTenant, collection: str, ids: Sequence[str], with_vectors: Sequence[str]
) -> list[Record]:
    wanted = known_ids(ids)
    if not wanted:
        return []
    page = await store.scroll(scope, collection, Where().ids(wanted), limit=len(wanted), with_vectors=with_vectors)
    found = {record.id: record for record in page.records}
    return [found[id_] for id_ in wanted if id_ in found]
