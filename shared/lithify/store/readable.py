"""The store as those read it who answer questions: a record that is not what it should be is left out, and told of.

Nothing of ours writes such a record; an earlier release took them from imports. One must not cost a tenant its answers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import structlog

from lithify.events import AnyTenant
from lithify.store.contract import Query, VectorStore
from lithify.store.memory_record import COLLECTION, find_unreadable
from lithify.store.records import Hit, Page, Record
from lithify.store.where import Where
from lithify.telemetry.metrics import UNREADABLE_RECORDS

Found = TypeVar("Found", Hit, Record)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class LeftOut:
    """Holds the ids of the records that were left out of one answer."""

    ids: set[str] = field(default_factory=set)

    @property
    def complaints(self) -> list[str]:
        """Says in words what is missing, for `degraded`; nothing if nothing is."""
        return [f"stored records that cannot be read were left out: {len(self.ids)}"] if self.ids else []


_LEFT_OUT: ContextVar[LeftOut | None] = ContextVar("left_out", default=None)


@contextmanager
def note_unreadable() -> Iterator[LeftOut]:
    """Gathers what is left out inside, also by the tasks that are started there."""
    left_out = LeftOut()
    token = _LEFT_OUT.set(left_out)
    try:
        yield left_out
    finally:
        _LEFT_OUT.reset(token)


def leave_out_unreadable(store: VectorStore) -> VectorStore:
    """Returns the store without the memories that cannot be read; writes and other collections are as ever."""
    return cast("VectorStore", ReadableStore(store))


class ReadableStore:
    """Passes every call on, and keeps unreadable memories out of what was searched, fetched and scrolled."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def query_batch(self, scope: AnyTenant, collection: str, queries: Sequence[Query], /) -> list[list[Hit]]:
        answers = await self._store.query_batch(scope, collection, queries)
        return [
            _readable(hits, collection, whole=query.fields is None)
            for query, hits in zip(queries, answers, strict=True)
        ]

    async def fetch(
        self, scope: AnyTenant, collection: str, ids: Sequence[str], /, with_vectors: Sequence[str] = ()
    ) -> list[Record]:
        return _readable(await self._store.fetch(scope, collection, ids, with_vectors=with_vectors), collection)

    async def scroll(
        self,
        scope: AnyTenant,
        collection: str,
        where: Where,
        /,
        *,
        limit: int,
        after: str | None = None,
        with_vectors: Sequence[str] = (),
    ) -> Page:
        page = await self._store.scroll(scope, collection, where, limit=limit, after=after, with_vectors=with_vectors)
        return replace(page, records=_readable(page.records, collection))


def _readable(found: list[Found], collection: str, *, whole: bool = True) -> list[Found]:
    if collection != COLLECTION:
        return found
    kept = []
    for one in found:
        name = find_unreadable(one.payload, whole=whole)
        if name is None:
            kept.append(one)
        else:
            _note(one.id, name)
    return kept


def _note(record_id: str, name: str) -> None:
    UNREADABLE_RECORDS.inc()
    left_out = _LEFT_OUT.get()
    if left_out is None or record_id not in left_out.ids:
        log.warning("record_unreadable", record_id=record_id, field=name)
    if left_out is not None:
        left_out.ids.add(record_id)
