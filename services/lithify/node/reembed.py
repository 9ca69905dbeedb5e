"""`lithify reembed`: makes the memories anew with another model, beside the present ones, and changes their places."""

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from redis.asyncio import Redis

from lithify.archive import exclude_copies
from lithify.archive.carrying import VISIBILITY, pages
from lithify.archive.exclusion import LEASE_S
from lithify.batching import batched
from lithify.docs.document import CHUNK_KIND as CHUNK
from lithify.docs.space import COLLECTION as DOCS
from lithify.errors import LithifyError, Misconfigured
from lithify.events import EVERY_TENANT
from lithify.indexing import TextVectors, attach_vectors, embed_each, record_text
from lithify.indexing.division import (
    CUT_KINDS,
    IndexedText,
    complete_record,
    embed_leniently,
    index_texts,
    make_pieces,
)
from lithify.node.parts import Model, collection_spec, connect_store, once_reachable, open_model
from lithify.settings import Settings
from lithify.store import LEXICAL, TIER_NAMES, CollectionSpec, Record, VectorStore, Where
from lithify.store.checks import FIXED
from lithify.store.memory_record import COLLECTION, PIECE, WITHOUT_PIECES
from lithify.store.migration import id_in_family, is_embedded, linked_ids, migrate_payload, payload_digest
from lithify.store.pieces import is_piece, where_pieces
from lithify.store.server import SPEC_AGE_S
from lithify.streams import arm, crash_point, open_producer
from lithify.telemetry.progress import Progress

MIDDLE: Final = "-reembed-"
PREFIX: Final = f"{COLLECTION}{MIDDLE}"
NAME_DIGITS: Final = 16
# Each pass finds what was written during the one before, which is less every time.
PASSES: Final = 5
# What may be left for settling: the work of an instant.
FEW: Final = 16
WORDED_BY_PIECES: Final = CUT_KINDS | {PIECE}

Digests = dict[bytes, bytes]
"""Of every record by its new id: what its payload is to be."""


class ReembedNotVerified(LithifyError):
    """The new collection does not hold what the present one holds; nothing was switched."""


@dataclass(slots=True)
class ReembedReport:
    """`records` are in the new collection, `embedded` of them by this run; `failed` ones have their words only, and
    backfill tries again. `late` ones were written while names were switched. `kept` is what the former records are
    called now; None with no records means that nothing was to be done. `documents` is the same about the chunks of
    documents, None where there are none.
    """

    records: int = 0
    embedded: int = 0
    failed: int = 0
    late: int = 0
    kept: str | None = None
    documents: "ReembedReport | None" = None


@dataclass(frozen=True, slots=True)
class Reembed:
    """Makes the vectors anew, possibly in several runs.

    The store itself tells where a killed one was, and nothing is embedded twice.
    """

    store: VectorStore
    model: Model
    batch: int
    # After this time no service writes vectors of the former model any more; see ServerStore.
    fence_s: float
    progress: Progress
    collection: str = COLLECTION
    report: ReembedReport = field(default_factory=ReembedReport)

    async def run(self) -> ReembedReport:
        """Raises Misconfigured if there is nothing to re-embed, ReembedNotVerified if the result is not right."""
        specs = {spec.name: spec for spec in await self.store.collections()}
        present = specs.get(self.collection)
        if present is None:
            raise Misconfigured(f"there is no collection {self.collection} yet; it is made with the configured model")
        expected: Digests = {}
        if present.fingerprint != self._fingerprint:
            await self._prepare(specs.get(self._name))
            expected = await self._build()
            crash_point("reembed_before_switch")
            await self.store.switch(self.collection, self._name)
            crash_point("reembed_after_switch")
        elif self._name not in specs:
            return self.report
        await self._settle(expected)
        return self.report

    @property
    def _fingerprint(self) -> str:
        return self.model.embedder.fingerprint

    @property
    def _family(self) -> str:
        return self.model.embedder.manifest.family

    @property
    def _name(self) -> str:
        """Names the new records until the switch, the former ones from then on: the fingerprints tell which."""
        return f"{self.collection}{MIDDLE}{self._fingerprint[:NAME_DIGITS]}"

    async def _prepare(self, begun: CollectionSpec | None) -> None:
        if begun is not None and begun.fingerprint != self._fingerprint:
            raise Misconfigured(
                f"{self._name} still keeps memories of an earlier model; remove it with `lithify reembed --drop-old`"
            )
        await self.store.ensure(replace(collection_spec(self.model.embedder), name=self._name))

    async def _build(self) -> Digests:
        """Passes over the present records until hardly anything changes between two."""
        for _ in range(PASSES):
            before = self.report.embedded
            expected, changed = await self._pass(self.collection, self._name, f"embedding {self.collection}")
            await self._prune(expected)
            if changed <= FEW and self.report.embedded - before <= FEW:
                break
        self.report.records = await self.store.count(EVERY_TENANT, self._name, WITHOUT_PIECES)
        return expected

    async def _pass(self, source: str, target: str, stage: str) -> tuple[Digests, int]:
        """Write what the target lacks or has otherwise; returns what should be there, and how much was not."""
        expected: Digests = {}
        seen = made = changed = 0
        total = await self.store.count(EVERY_TENANT, source, Where())
        async for page in pages(self.store, source, vectors=True):
            wanted = await self._translate(source, page)
            families = [[record, *make_pieces(record, self._family)] for record in wanted]
            expected |= {UUID(r.id).bytes: payload_digest(r.payload) for family in families for r in family}
            for part in batched(await self._find_outdated(target, families), self.batch):
                await self._write(target, part)
                crash_point("reembed_batch")
                changed += len(part)
            made += sum(map(len, families))
            seen += len(page)
            self.progress(stage, seen, total)
        if len(expected) != made:
            raise ReembedNotVerified(
                f"{made - len(expected)} of {made} records would share an id; {source} is as it was"
            )
        return expected, changed

    async def _translate(self, source: str, page: Sequence[Record]) -> list[Record]:
        """Returns them as they are to be, save the vectors: under and pointing to new ids, with the words they had.

        Pieces are left out: they are cut anew from the records they belong to.
        """
        page = [record for record in page if not is_piece(record)]
        links = {link for record in page for link in linked_ids(record.payload)}
        targets = {found.id: found for found in await self.store.fetch(EVERY_TENANT, source, list(links))}
        moved = {old: id_in_family(record, self._family) for old, record in targets.items()}
        return [
            replace(
                record,
                id=id_in_family(record, self._family),
                payload=migrate_payload(record, moved, self._fingerprint),
            )
            for record in page
        ]

    async def _find_outdated(self, target: str, families: Sequence[Sequence[Record]]) -> list[Record]:
        """Returns the records that are not there as they are to be, or lack one of their pieces."""
        ids = [record.id for family in families for record in family]
        stored = await self.store.fetch(EVERY_TENANT, target, ids)
        digests = {record.id: payload_digest(record.payload) for record in stored}
        return [
            family[0]
            for family in families
            if any(digests.get(record.id) != payload_digest(record.payload) for record in family)
        ]

    async def _write(self, target: str, records: Sequence[Record], *, reuse: bool = True) -> list[Record]:
        """Embeds and stores records with their pieces, and returns all that was written.

        With `reuse`, vectors that are there already for the same text are not made again.
        """
        families = {record.id: [*make_pieces(record, self._family), record] for record in records}
        twins = await self._twins(target, [one.id for family in families.values() for one in family]) if reuse else {}
        fresh = [record for record in records if is_embedded(record) and not are_known(families[record.id], twins)]
        made = await self._embed(fresh)
        ready: list[Record] = []
        for record in records:
            if record.id in made:
                ready += complete_record(record, made[record.id], self.model.embedder.manifest)
            else:
                ready += [self._renew(one, twins.get(one.id)) for one in families[record.id]]
        await self.store.upsert(EVERY_TENANT, target, ready)
        return ready

    def _renew(self, record: Record, twin: Record | None) -> Record:
        """Returns the record with the vectors its twin has; what is never searched has none."""
        if twin is None:
            return replace(record, vectors={})
        renewed = attach_vectors(record, TextVectors(twin.vectors), self.model.embedder.manifest)
        return replace(renewed, lexical=twin.lexical) if record.payload.get("kind") in WORDED_BY_PIECES else renewed

    async def _twins(self, target: str, ids: Sequence[str]) -> dict[str, Record]:
        found = await self.store.fetch(EVERY_TENANT, target, ids, with_vectors=(*TIER_NAMES, LEXICAL))
        return {twin.id: twin for twin in found if twin.vectors}

    async def _embed(self, records: Sequence[Record]) -> dict[str, IndexedText]:
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(self.model.executor, self._index, records)
        failed = sum(one.vectors.error is not None for one in made.values())
        self.report.failed += failed
        self.report.embedded += len(made) - failed
        return made

    def _index(self, records: Sequence[Record]) -> dict[str, IndexedText]:
        """Embeds what was said by its pieces and reads its words anew; summaries and others keep those they have."""
        model = self.model
        said = [record for record in records if record.payload.get("kind") in CUT_KINDS]
        others = [record for record in records if record.payload.get("kind") not in CUT_KINDS]
        texts = [(record_text(record) or "", int(record.payload["ts"])) for record in said]
        indexed = index_texts(texts, embed_leniently(model.embedder), model.embedder.manifest, model.analyser)
        made = {record.id: one for record, one in zip(said, indexed, strict=True)}
        embedded = embed_each([record_text(record) or "" for record in others], model.embedder)
        made |= {r.id: IndexedText(one, r.lexical, ()) for r, one in zip(others, embedded, strict=True)}
        return made

    async def _prune(self, expected: Mapping[bytes, bytes]) -> None:
        """Removes what was forgotten since an earlier pass, or an earlier run: it must not come back."""
        async for page in pages(self.store, self._name):
            await self._remove(self._name, [r.id for r in page if UUID(r.id).bytes not in expected])
        count = await self.store.count(EVERY_TENANT, self._name, Where())
        if count != len(expected):
            raise ReembedNotVerified(f"of {len(expected)} records {count} are in {self._name}; run it again")

    async def _remove(self, collection: str, ids: Sequence[str]) -> None:
        if ids:
            await self.store.delete(EVERY_TENANT, collection, Where().ids(ids))

    async def _settle(self, expected: Digests) -> None:
        """Bring over what services wrote to the former records before the switch, mend what they wrote right after."""
        await asyncio.sleep(self.fence_s)
        specs = {spec.name: spec for spec in await self.store.collections()}
        former = specs[self._name]
        await self._bring_over(expected)
        await self._mend(former.fingerprint)
        if await self.store.count(EVERY_TENANT, self._name, Where()):
            self.report.kept = self._name
        else:
            await self.store.drop(self._name)

    async def _bring_over(self, expected: Digests) -> None:
        """A record that stood in the new collection and is missing there now was forgotten after the switch."""
        left = set(expected)
        async for page in pages(self.store, self._name, vectors=True):
            wanted = await self._translate(self._name, page)
            found = await self.store.fetch(EVERY_TENANT, self.collection, [record.id for record in wanted])
            present = {record.id for record in found}
            for part in batched(late_records(wanted, expected, present), self.batch):
                await self._write(self.collection, part)
                self.report.late += len(part)
            for record in changed_records(wanted, expected, present):
                await self._update(record)
            families = [[record, *make_pieces(record, self._family)] for record in wanted]
            left -= {UUID(record.id).bytes for family in families for record in family}
        await self._remove(self.collection, [str(UUID(bytes=key)) for key in left])

    async def _update(self, record: Record) -> None:
        if record.payload.get("kind") == CHUNK:
            # The only records whose text may change, and with it their words.
            await self._write(self.collection, [record])
            return
        changed = {name: value for name, value in record.payload.items() if name not in FIXED}
        await self.store.set_payload(EVERY_TENANT, self.collection, Where().ids([record.id]), changed)
        if record.payload.get("divided"):
            seen = {name: record.payload.get(name) for name in VISIBILITY}
            await self.store.set_payload(EVERY_TENANT, self.collection, where_pieces([record.id]), seen)

    async def _mend(self, former: str) -> None:
        """Makes anew the vectors of the former model that a service wrote before it saw the switch."""
        stray = Where().equals("embedding", former)
        place = self.collection
        while records := (
            await self.store.scroll(EVERY_TENANT, place, stray, limit=self.batch, with_vectors=("l3", "lexical"))
        ).records:
            wanted = await self._translate(place, records)
            written = await self._write(place, wanted, reuse=False)
            # A piece whose turn comes later is made again with it.
            await self._remove(place, [*{record.id for record in records} - {record.id for record in written}])
            self.report.late += len(wanted)


def are_known(family: Iterable[Record], twins: Mapping[str, Record]) -> bool:
    """Says whether the vectors of a record and of all its pieces are there for the same texts."""
    return all(record_text(twins.get(record.id)) == record_text(record) for record in family)


def late_records(wanted: Iterable[Record], expected: Digests, present: Container[str]) -> list[Record]:
    return [r for r in wanted if UUID(r.id).bytes not in expected and r.id not in present]


def changed_records(wanted: Iterable[Record], expected: Digests, present: Container[str]) -> list[Record]:
    """Returns those whose former record was changed after the last pass had seen it."""
    known = [(record, expected.get(UUID(record.id).bytes)) for record in wanted if record.id in present]
    return [record for record, seen in known if seen not in (None, payload_digest(record.payload))]


async def run_reembed(settings: Settings, progress: Progress) -> ReembedReport:
    """Raises Misconfigured if a node is running on the data folder, whose embedded store serves one process."""
    arm(settings.crash_at)
    async with AsyncExitStack() as stack:
        model = open_model(settings, stack)
        store = await open_unchecked(settings, stack)
        fence_s = 0.0 if settings.qdrant_url is None else 2 * SPEC_AGE_S
        redis = open_shared_redis(settings, stack)
        # Forgetting waits: what is forgotten here could otherwise come back from the copy.
        async with exclude_copies(settings.archive_folder, redis, LEASE_S):
            return await reembed_everything(
                Reembed(store=store, model=model, batch=settings.embed_batch_turns, fence_s=fence_s, progress=progress)
            )


def open_shared_redis(settings: Settings, stack: AsyncExitStack) -> Redis | None:
    """Opens the Redis by which processes on other machines are kept out; a node that has one of its own is alone."""
    if settings.redis_url is None:
        return None
    redis = open_producer(settings.redis_url)
    stack.push_async_callback(redis.aclose)
    return redis


async def reembed_everything(memories: Reembed) -> ReembedReport:
    """Moves the memories, then the documents: a run that was killed between the two goes on with the documents."""
    report = await memories.run()
    if any(spec.name == DOCS for spec in await memories.store.collections()):
        report.documents = await replace(memories, collection=DOCS, report=ReembedReport()).run()
    return report


async def open_unchecked(settings: Settings, stack: AsyncExitStack) -> VectorStore:
    """Opens the store unchecked: that its vectors are not those of the configured model is why we are here."""
    store = connect_store(settings)
    stack.push_async_callback(store.close)
    await once_reachable("store", store.collections)
    return store


async def drop_former(settings: Settings) -> list[str]:
    """Remove the former records that were kept, but nothing that is still being built."""
    async with AsyncExitStack() as stack:
        store = await open_unchecked(settings, stack)
        prefixes = tuple(f"{name}{MIDDLE}" for name in (COLLECTION, DOCS))
        specs = [spec for spec in await store.collections() if spec.name.startswith(prefixes)]
        kept = [spec.name for spec in specs if not spec.name.endswith(spec.fingerprint[:NAME_DIGITS])]
        for name in kept:
            await store.drop(name)
    return kept
