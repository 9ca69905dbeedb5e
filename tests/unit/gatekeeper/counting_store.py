"""A store that writes down the searches it is asked for, and may fail them."""

from collections.abc import Sequence
from typing import Any

from lithify.events import AnyTenant
from lithify.store import Hit, Query, VectorStore
from lithify.store.where import Equals


class CountingStore:
    """Everything but searching goes straight to the real store."""

    def __init__(self, store: VectorStore, fails: Exception | None = None, only_for: str | None = None) -> None:
        """Searches for the turn `only_for` fail, or all."""
        self.queries: list[Query] = []
        self._store = store
        self._fails = fails
        self._only_for = only_for

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def query_batch(self, scope: AnyTenant, collection: str, queries: Sequence[Query], /) -> list[list[Hit]]:
        self.queries += queries
        left_out = [Equals("event_id", self._only_for or "") in query.where.must_not for query in queries]
        if self._fails is not None and (self._only_for is None or any(left_out)):
            raise self._fails
        return await self._store.query_batch(scope, collection, queries)
