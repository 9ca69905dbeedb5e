"""Stores exported records: under the ids they have here, with the vectors of the model that is used here."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Final

from redis.asyncio import Redis

from lithify.assembly.library.export import ExportedRecord
from lithify.embedding import Embedder
from lithify.events import TenantScope
from lithify.forgetting import read_present_moment
from lithify.indexing import TextVectors, attach_vectors, embed_each, lexical_vector, tier_names
from lithify.indexing.division import (
    CUT_KINDS,
    IndexedText,
    complete_record,
    embed_leniently,
    index_texts,
    index_words,
)
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore
from lithify.store.memory_record import COLLECTION, PIECE, position_of
from lithify.store.migration import id_in_family, migrate_payload
from lithify.store.pieces import upsert_with_pieces
from lithify.store.renewal import ACCEPTED, accepted_at
from lithify.streams import Retention, keys, script
from lithify.streams.generations import AUTHORED, bump, durable_subject
from lithify.streams.outage import outages

FINGERPRINT: Final = "embedding"
POSITION: Final = "position"


@dataclass(frozen=True, slots=True)
class Importer:
    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    executor: Executor
    redis: Redis
    partitions: int

    async def write(self, scope: TenantScope, lines: Sequence[ExportedRecord]) -> int:
        """Stores records in the caller's tenant, searchable on return; writing the same twice is writing it once.

        Returns how many had to be embedded anew. Raises Invalid for records the store refuses.
        """
        # No export has pieces, and what another writer calls one is not cut from anything here.
        wholes = [line for line in lines if line.kind != PIECE]
        loop = asyncio.get_running_loop()
        records, embedded = await loop.run_in_executor(self.executor, self._make_records, scope.tenant, wholes)
        records = bound_acceptance(records, await read_present_moment(self.redis, self.partitions))
        await upsert_with_pieces(self.store, scope, COLLECTION, records)
        await self._advance_sequences(scope.tenant, records)
        await self._bump_generations(scope.tenant, records)
        return embedded

    def _has_fitting_vectors(self, line: ExportedRecord) -> bool:
        """Says whether the vectors it brings along are those this model would make."""
        known = (line.model_extra or {}).get(FINGERPRINT) == self.embedder.fingerprint
        return known and set(line.vectors) == set(tier_names(self.embedder.manifest))

    def _make_records(self, tenant: str, lines: Sequence[ExportedRecord]) -> tuple[list[Record], int]:
        """Makes the records and counts those that are embedded anew: a divided one always is, for its pieces are."""
        moved = [self._migrate(tenant, line) for line in lines]
        fitting = {record.id for record, line in zip(moved, lines, strict=True) if self._has_fitting_vectors(line)}
        bare = [r for r in moved if FINGERPRINT in r.payload and (r.id not in fitting or r.payload.get("divided"))]
        made = self._index([r for r in bare if r.payload["kind"] in CUT_KINDS])
        made |= self._embed([r for r in bare if r.payload["kind"] not in CUT_KINDS])
        return [one for record in moved for one in self._complete(record, made.get(record.id))], len(bare)

    def _index(self, records: Sequence[Record]) -> dict[str, IndexedText]:
        texts = [(record.payload["text"], said_at(record)) for record in records]
        indexed = index_texts(texts, embed_leniently(self.embedder), self.embedder.manifest, self.analyser)
        return {record.id: one for record, one in zip(records, indexed, strict=True)}

    def _embed(self, records: Sequence[Record]) -> dict[str, IndexedText]:
        made = embed_each([record.payload["text"] for record in records], self.embedder)
        return {
            record.id: IndexedText(one, lexical_vector(record.payload["text"], self.analyser, said_at(record)), ())
            for record, one in zip(records, made, strict=True)
        }

    def _migrate(self, tenant: str, line: ExportedRecord) -> Record:
        family = self.embedder.manifest.family
        record = Record(line.id, line.payload() | {"tenant": tenant}, line.tiers())
        links = {id_: link.id_in(tenant, family) for id_, link in line.links.items()}
        payload = place_record(migrate_payload(record, links, self.embedder.fingerprint))
        return replace(record, id=id_in_family(record, family), payload=payload)

    def _complete(self, record: Record, indexed: IndexedText | None) -> list[Record]:
        """Gives a record its vectors; rules and whole documents have no fingerprint, because they are not searched."""
        if FINGERPRINT not in record.payload:
            return [replace(record, vectors={})]
        if indexed is not None:
            return complete_record(record, indexed, self.embedder.manifest)
        make_words = index_words if record.payload["kind"] in CUT_KINDS else lexical_vector
        lexical = make_words(record.payload["text"], self.analyser, said_at(record))
        made = attach_vectors(record, TextVectors(record.vectors), self.embedder.manifest)
        return [replace(made, lexical=lexical)]

    async def _advance_sequences(self, tenant: str, records: Sequence[Record]) -> None:
        """Lets the next turn of an imported session stand behind those it brought along."""
        highest: dict[str, int] = {}
        for payload in (record.payload for record in records if record.payload["kind"] == "turn"):
            session = payload.get("session")
            seq = payload.get("seq")
            if session is not None and seq is not None:
                partition = keys.partition_of(tenant, session, self.partitions)
                name = keys.session_seq(partition, tenant, payload["user"], session)
                highest[name] = max(seq, highest.get(name, 0))
        if highest:
            with outages():
                await script.load("lift").run(self.redis, [*highest], [Retention().session_s, *highest.values()])

    async def _bump_generations(self, tenant: str, records: Sequence[Record]) -> None:
        for user in {record.payload["user"] for record in records}:
            await bump(self.redis, tenant, durable_subject(user))
        if any(record.payload["kind"] == "authored" for record in records):
            await bump(self.redis, tenant, AUTHORED)


def place_record(payload: dict[str, Any]) -> dict[str, Any]:
    """Returns the payload with the position that follows from its place in the session, whatever it says itself."""
    placed = {name: value for name, value in payload.items() if name != POSITION}
    if payload["kind"] != "turn" or payload.get("seq") is None:
        return placed
    return {**placed, POSITION: position_of(payload["user"], payload["session"], payload["seq"])}


def bound_acceptance(records: Sequence[Record], now_ms: int) -> list[Record]:
    """Returns the records as accepted now at the latest: one of the future would outlive every forgetting."""
    return [
        replace(record, payload={**record.payload, ACCEPTED: now_ms}) if accepted_at(record) > now_ms else record
        for record in records
    ]


def said_at(record: Record) -> int | None:
    """Returns when something was said, by which it is found as well; a rule is of no day."""
    return None if record.payload["kind"] == "authored" else record.payload["ts"]
