"""One collection inside Qdrant Edge, blocking; the store calls it from its own threads."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import qdrant_edge as edge

from lithify.batching import batched
from lithify.errors import Doubtful, Invalid, Misconfigured, Unavailable
from lithify.store.catalogue import sync
from lithify.store.contract import CollectionSpec, Query, TiersById
from lithify.store.edge_codec import (
    engine_config,
    engine_filter,
    engine_point,
    engine_query,
    engine_scroll,
    engine_vectors,
    hit_of,
    index_operation,
    record_of,
)
from lithify.store.records import Hit, Page, Record, best_first
from lithify.store.schema import INDEXES
from lithify.store.scoping import ScopedWhere
from lithify.store.writability import is_storage_trouble

# The binding keeps the interpreter lock while it works: this many records hold everything else up for 1 to 2 ms.
WRITE_CHUNK: Final = 16

# Opening after a crash replays what was written since the last flush: 2 s for this many points.
FLUSH_AFTER: Final = 20_000

_BAD_INPUT: Final = ("dimension error", "Wrong input", "Validation error", "Not existing vector name")


@contextmanager
def engine_errors(folder: Path) -> Iterator[None]:
    """Raises our errors for the binding's, which are bare Exception, and PanicException, which is not even one."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as error:
        raise Invalid(f"Qdrant Edge cannot read the input: {error}") from error
    except BaseException as error:
        if type(error).__name__ not in ("Exception", "PanicException"):
            raise
        if any(words in str(error) for words in _BAD_INPUT):
            raise Invalid(str(error)) from error
        if "WouldBlock" in str(error):
            raise Misconfigured(f"the vectors in {folder} are in use by another process; stop it first") from error
        if is_storage_trouble(str(error)):
            raise Unavailable(f"Qdrant Edge cannot serve {folder}: {error}") from error
        # An engine that is broken fails at everything, one that met a record it cannot bear at that record.
        raise Doubtful(f"Qdrant Edge failed in {folder}: {error}") from error


@dataclass(slots=True)
class EdgeCollection:
    """Writes must come from one thread at a time; reads may come from any."""

    folder: Path
    spec: CollectionSpec
    engine: edge.EdgeShard
    unflushed: int = field(default=0)

    @classmethod
    def create(cls, folder: Path, spec: CollectionSpec) -> "EdgeCollection":
        folder.mkdir()
        with engine_errors(folder):
            opened = cls(folder, spec, edge.EdgeShard.create(str(folder), engine_config(spec)))
        opened.index()
        opened.flush()
        return opened

    @classmethod
    def load(cls, folder: Path, spec: CollectionSpec) -> "EdgeCollection":
        """Opens a collection and replays the log of a crashed process.

        Takes over the indexes and placements a newer release asks for.
        """
        if not folder.is_dir():
            raise Misconfigured(f"collection {spec.name} has lost its folder {folder}; restore it from a snapshot")
        with engine_errors(folder):
            opened = cls(folder, spec, edge.EdgeShard.load(str(folder), engine_config(spec)))
        opened.index()
        return opened

    def index(self) -> None:
        with engine_errors(self.folder):
            known = self.engine.info().payload_schema
            for name, kind in INDEXES.items():
                if name not in known:
                    self.engine.update(index_operation(name, kind))

    def upsert(self, records: Sequence[Record], replacing: ScopedWhere) -> None:
        """Writes records; existing ones that do not match stay as they are."""
        condition = engine_filter(replacing)
        for chunk in batched(records, WRITE_CHUNK):
            points = [engine_point(record) for record in chunk]
            self._update(edge.UpdateOperation.upsert_points(points, condition), len(chunk))
        self._commit()

    def delete(self, where: ScopedWhere) -> None:
        self._update(edge.UpdateOperation.delete_points_by_filter(engine_filter(where)), 1)
        self._commit()

    def set_payloads(self, updates: Sequence[tuple[ScopedWhere, Mapping[str, Any]]]) -> None:
        """Updates payloads with one sync to disk for all of them: it takes far longer than the updates themselves."""
        for where, payload in updates:
            self._update(edge.UpdateOperation.set_payload_by_filter(engine_filter(where), dict(payload)), 1)
        self._commit()

    def set_vectors(self, stored: ScopedWhere, tiers: TiersById) -> None:
        """Sets vectors of what is `stored` only: the engine refuses the whole call for an id it does not know."""
        found = self.scroll(stored, len(tiers), None, ()).records if tiers else []
        for chunk in batched(found, WRITE_CHUNK):
            vectors = [engine_vectors(record.id, tiers[record.id]) for record in chunk]
            self._update(edge.UpdateOperation.update_vectors(vectors), len(chunk))
        self._commit()

    def _update(self, operation: edge.UpdateOperation, points: int) -> None:
        with engine_errors(self.folder):
            self.engine.update(operation)
        self.unflushed += points

    def _commit(self) -> None:
        """Syncs the engine's log, a memory map that it does not sync: a power cut would take what was acknowledged."""
        log = self.folder / "wal"
        for path in (log, *log.iterdir()):
            # The engine makes the next file of the log beside us, under a passing name.
            with suppress(FileNotFoundError):
                sync(path)
        if self.unflushed >= FLUSH_AFTER:
            self.flush()

    def flush(self) -> None:
        with engine_errors(self.folder):
            self.engine.flush()
        self.unflushed = 0

    def query_batch(self, queries: Sequence[tuple[Query, ScopedWhere]]) -> list[list[Hit]]:
        request = edge.QueryBatchRequest([engine_query(query, where) for query, where in queries])
        with engine_errors(self.folder):
            answers = self.engine.query_batch(request)
        return [best_first(hit_of(point) for point in points) for points in answers]

    def scroll(self, where: ScopedWhere, limit: int, after: str | None, names: Sequence[str]) -> Page:
        with engine_errors(self.folder):
            points, following = self.engine.scroll(engine_scroll(where, limit, after, names))
        return Page([record_of(point) for point in points], None if following is None else str(following))

    def count(self, where: ScopedWhere) -> int:
        with engine_errors(self.folder):
            return self.engine.count(edge.CountRequest(exact=True, filter=engine_filter(where)))

    def optimise(self) -> bool:
        with engine_errors(self.folder):
            return self.engine.optimize()

    def close(self) -> None:
        self.flush()
        with engine_errors(self.folder):
            self.engine.close()
