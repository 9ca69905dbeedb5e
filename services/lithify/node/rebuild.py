"""`lithify rebuild`: a new collection from the archive, verified, then put in the place of the former one."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

from lithify.archive import Findings, hold_shared_lock, index_newest, read_newest, whole_archive
from lithify.archive.carrying import STATE, Carrier, pages
from lithify.archive.checkpoint import Checkpoint, RebuildStep, clear_checkpoint
from lithify.archive.exclusion import LEASE_S
from lithify.archiver.inspection import STALL_S, wait_until_archived
from lithify.archiver.worker import archive_consumer, open_archive_worker, slot_name
from lithify.batching import batched
from lithify.embedder.records import bare_record, becomes_memory, make_records, turn_id
from lithify.errors import Invalid, LithifyError, Misconfigured
from lithify.events import EVERY_TENANT, Clock, Event, Role, system_clock
from lithify.indexing.division import make_pieces
from lithify.node.parts import Model, RedisParts, collection_spec, keep_stored_model, open_model, open_redis, open_store
from lithify.settings import Settings
from lithify.store import Record, VectorStore, Where, point_id
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES, MemoryRecord
from lithify.store.renewal import accepted_at
from lithify.streams import ConsumerSettings, arm, crash_point, open_consumer
from lithify.telemetry.progress import Progress

MARKER: Final = "lithify.rebuild"
ROLES: Final = frozenset(Role)
PREFIX: Final = f"{COLLECTION}-rebuild-"
# What an archived event decides about its record.
DECIDED: Final = tuple(item.name for item in fields(MemoryRecord) if item.name not in STATE)
# A drain ends within one block after the last event.
DRAIN_BLOCK_MS: Final = 100


class NotVerified(LithifyError):
    """The new collection does not hold what the archive holds; it was dropped, and nothing was switched."""


@dataclass(slots=True)
class RebuildReport:
    """Counts what this run did.

    Of the distinct `archived` events, `ignored` ones never become memory, `refused` ones cannot.
    `verified` turns are in the new collection; `embedded` says how many of them this run made. `late` turns came
    while names were switched. `kept` is the name the former collection has now.
    """

    archived: int = 0
    ignored: int = 0
    refused: int = 0
    embedded: int = 0
    verified: int = 0
    late: int = 0
    carried: dict[str, int] = field(default_factory=dict)
    kept: str | None = None
    torn_bytes: int = 0
    damage: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Makes the collection anew, possibly in several runs: a killed one goes on, and embeds nothing twice."""

    store: VectorStore
    model: Model
    archive: Path
    batch: int
    carry: bool
    caught_up: Callable[[], Awaitable[None]]
    progress: Progress
    clock: Clock
    report: RebuildReport = field(default_factory=RebuildReport)

    async def run(self) -> RebuildReport:
        """Raises Unavailable while another one runs or a part is away, NotVerified if the result is not right."""
        with whole_archive(self.archive):
            checkpoint = await self._resume() or self._begin()
            if checkpoint.step is RebuildStep.BUILDING:
                await self._build(checkpoint.collection)
                checkpoint = await self._switch(checkpoint)
            await self._settle(checkpoint)
            clear_checkpoint(self.archive)
        return self.report

    async def _resume(self) -> Checkpoint | None:
        """Goes on after a killed run; a switch that may have happened is not repeated, for the marker came with it."""
        checkpoint = Checkpoint.read(self.archive)
        if checkpoint is None:
            return None
        if checkpoint.step is RebuildStep.SWITCHING:
            marked = await self.store.fetch(EVERY_TENANT, COLLECTION, [marker(checkpoint).id])
            checkpoint = replace(checkpoint, step=RebuildStep.SETTLING if marked else RebuildStep.BUILDING)
        if checkpoint.step is RebuildStep.BUILDING and checkpoint.fingerprint != self.model.embedder.fingerprint:
            await self.store.drop(checkpoint.collection)
            return None
        return checkpoint

    def _begin(self) -> Checkpoint:
        checkpoint = Checkpoint(f"{PREFIX}{self.clock()}", self.model.embedder.fingerprint)
        checkpoint.write(self.archive)
        return checkpoint

    async def _build(self, collection: str) -> None:
        await self.store.ensure(replace(collection_spec(self.model.embedder), name=collection))
        await self.caught_up()
        await self._verify(collection, await self._fill(collection))
        if self.carry:
            await self._carry(COLLECTION, collection, live=False)
        crash_point("rebuild_built")

    async def _fill(self, collection: str, *, live: bool = False) -> dict[bytes, bytes]:
        """Write the turns that are not there yet; returns the id of each record that should be, and its digest.

        In a live collection a turn that is there is left alone, for it may be ahead of the archive; not so one of an
        earlier acceptance, which may be forgotten any moment.
        """
        expected: dict[bytes, bytes] = {}
        findings = Findings()
        newest = index_newest(self.archive, partial(self.progress, "reading the archive"))
        done = 0
        for events in batched(read_newest(self.archive, newest, findings), self.batch):
            await self._add(collection, events, expected, live)
            crash_point("rebuild_batch")
            done += len(events)
            self.progress("catching up" if live else "embedding", done, len(newest))
        self.report.archived = len(newest)
        self.report.torn_bytes = findings.torn_bytes
        self.report.damage = [str(damage) for damage in findings.damage]
        return expected

    async def _add(self, collection: str, events: list[Event], expected: dict[bytes, bytes], live: bool) -> None:
        turns = {self._id(event): event for event in events if is_recallable(event)}
        made = {id_: self._digests(event) for id_, event in turns.items()}
        ids = [id_ for digests in made.values() for id_ in digests]
        stored = {r.id: r for r in await self.store.fetch(EVERY_TENANT, collection, ids)}
        if live:
            missing = [id_ for id_, event in turns.items() if id_ not in stored or is_later(event, stored[id_])]
        else:
            missing = [id_ for id_, wanted in made.items() if not are_right(wanted, stored)]
        refused = await self._write(collection, [turns[id_] for id_ in missing])
        right = [digests for id_, digests in made.items() if id_ not in refused]
        expected |= {UUID(id_).bytes: wanted for digests in right for id_, wanted in digests.items()}
        self._count(len(events) - len(turns), len(missing) - len(refused), len(refused), live)

    async def _write(self, collection: str, events: list[Event]) -> set[str]:
        """Embed and store; returns the ids of those that cannot be. One such event must not take its batch along."""
        if not events:
            return set()
        model = self.model
        loop = asyncio.get_running_loop()
        try:
            make = partial(make_records, events, model.embedder, model.analyser)
            await self.store.upsert(EVERY_TENANT, collection, await loop.run_in_executor(model.executor, make))
        except Invalid:
            if len(events) == 1:
                return {self._id(events[0])}
            middle = len(events) // 2
            return await self._write(collection, events[:middle]) | await self._write(collection, events[middle:])
        return set()

    def _count(self, ignored: int, written: int, refused: int, live: bool) -> None:
        if live:
            self.report.late += written
            return
        self.report.ignored += ignored
        self.report.embedded += written
        self.report.refused += refused

    async def _verify(self, collection: str, expected: Mapping[bytes, bytes]) -> None:
        """Checks that every expected record is there as it should be; removes what an earlier run left besides."""
        total = await self.store.count(EVERY_TENANT, collection, Where())
        looked_at = right = 0
        async for page in pages(self.store, collection):
            known = [record for record in page if UUID(record.id).bytes in expected]
            right += sum(digest(record.payload) == expected[UUID(record.id).bytes] for record in known)
            await self._remove(collection, {record.id for record in page} - {record.id for record in known})
            looked_at += len(page)
            self.progress("verifying", looked_at, total)
        if right != len(expected) or await self.store.count(EVERY_TENANT, collection, Where()) != right:
            await self.store.drop(collection)
            clear_checkpoint(self.archive)
            raise NotVerified(
                f"of {len(expected)} records of archived turns {right} are right in the new collection; it was "
                f"dropped, {COLLECTION} is as it was. Run it again"
            )
        self.report.verified = await self.store.count(EVERY_TENANT, collection, WITHOUT_PIECES)

    async def _remove(self, collection: str, ids: Collection[str]) -> None:
        if ids:
            await self.store.delete(EVERY_TENANT, collection, Where().ids(ids))

    async def _switch(self, checkpoint: Checkpoint) -> Checkpoint:
        await self.store.upsert(EVERY_TENANT, checkpoint.collection, [marker(checkpoint)])
        replace(checkpoint, step=RebuildStep.SWITCHING).write(self.archive)
        crash_point("rebuild_before_switch")
        await self.store.switch(COLLECTION, checkpoint.collection)
        crash_point("rebuild_after_switch")
        settling = replace(checkpoint, step=RebuildStep.SETTLING)
        settling.write(self.archive)
        return settling

    async def _settle(self, checkpoint: Checkpoint) -> None:
        """Bring over what was written under the former records while names were switched."""
        await self._remove(COLLECTION, [marker(checkpoint).id])
        await self.caught_up()
        await self._fill(COLLECTION, live=True)
        former = checkpoint.collection
        if former not in [spec.name for spec in await self.store.collections()]:
            return
        if self.carry:
            await self._carry(former, COLLECTION, live=True)
        if await self.store.count(EVERY_TENANT, former, Where()):
            self.report.kept = former
        else:
            await self.store.drop(former)

    async def _carry(self, source: str, target: str, *, live: bool) -> None:
        carrier = Carrier(self.store, source, target, partial(self.progress, "settling" if live else "carrying over"))
        carried = Counter(self.report.carried) + await carrier.carry(live=live)
        self.report.carried = dict(carried)

    def _id(self, event: Event) -> str:
        return turn_id(event, self.model.embedder.manifest.family)

    def _digests(self, event: Event) -> dict[str, bytes]:
        """Returns what the records of an event are to be, the turn and its pieces, by their ids."""
        turn = bare_record(event, self.model.embedder)
        pieces = make_pieces(turn, self.model.embedder.manifest.family)
        return {record.id: digest(record.payload) for record in (turn, *pieces)}


def is_recallable(event: Event) -> bool:
    """A role of a newer release is unknown to the record-making code; its turns are not memory here."""
    return becomes_memory(event) and event.role in ROLES


def is_later(event: Event, stored: Record) -> bool:
    """Tells whether an event was accepted after the turn that is stored under its id, where that says when it was."""
    return 0 < accepted_at(stored) < (event.accepted or 0)


def are_right(wanted: Mapping[str, bytes], stored: Mapping[str, Record]) -> bool:
    """Tells whether a turn is there as it should be, with all its pieces."""
    return all(id_ in stored and digest(stored[id_].payload) == one for id_, one in wanted.items())


def digest(payload: Mapping[str, Any]) -> bytes:
    """Digests what the event decides: the rest was added later and is carried over."""
    decided = {name: payload[name] for name in DECIDED if name in payload}
    return hashlib.blake2b(orjson.dumps(decided, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def marker(checkpoint: Checkpoint) -> Record:
    """Lies in the new collection while names are switched, under a tenant of its own, and is removed right after."""
    return Record(point_id(MARKER, MARKER, checkpoint.collection, MARKER), {"tenant": MARKER, "kind": MARKER})


async def run_rebuild(settings: Settings, archive: Path, *, carry: bool, progress: Progress) -> RebuildReport:
    """Raises Misconfigured if a node is running on the data folder, whose embedded parts serve one process."""
    if not settings.archive:
        # Waiting for the archive would also leave a group behind that nobody reads for, and nothing would be trimmed.
        raise Misconfigured("LITHIFY_ARCHIVE is false, so the archive lacks what was accepted; a rebuild needs it on")
    arm(settings.crash_at)
    async with AsyncExitStack() as stack:
        model = open_model(await keep_stored_model(settings), stack)
        redis = await open_redis(settings, stack)
        store = await open_store(settings, model.embedder, stack)
        caught_up = partial(archive_everything, settings, archive, redis)
        rebuild = Rebuild(
            store=store,
            model=model,
            archive=archive,
            batch=settings.embed_batch_turns,
            carry=carry,
            caught_up=caught_up,
            progress=progress,
            clock=system_clock,
        )
        # The archive's own lock, which the rebuild takes, is not seen by a forgetting on another machine. On a Redis of
        # our own there is nobody else.
        async with hold_shared_lock(redis.client, LEASE_S) if redis.server is None else nullcontext():
            return await rebuild.run()


async def drop_kept(settings: Settings, archive: Path) -> list[str]:
    """Remove the collections that earlier rebuilds have kept, but not one that is still being built."""
    async with AsyncExitStack() as stack:
        model = open_model(await keep_stored_model(settings), stack)
        store = await open_store(settings, model.embedder, stack)
        with whole_archive(archive):
            building = Checkpoint.read(archive)
            names = [spec.name for spec in await store.collections() if spec.name.startswith(PREFIX)]
            kept = [name for name in names if building is None or name != building.collection]
            for name in kept:
                await store.drop(name)
    return kept


async def archive_everything(settings: Settings, archive: Path, redis: RedisParts) -> None:
    """Every event accepted before the call is in the archive on return.

    Beside running archive workers this waits for them; a Redis of our own has none, so their work is done here.
    """
    stall_s = max(STALL_S, 2 * settings.lease_ms / 1000)
    if redis.server is None:
        await wait_until_archived(redis.client, settings.partitions, stall_s)
        return
    name = slot_name(settings.worker_name)
    limits = ConsumerSettings(block_ms=DRAIN_BLOCK_MS, lease_ms=settings.lease_ms)
    async with (
        open_archive_worker(archive, name, system_clock) as worker,
        open_consumer(redis.url, limits.block_ms) as client,
    ):
        consumer = archive_consumer(worker, client, settings.partitions, name, limits, system_clock)
        running = asyncio.create_task(consumer.run(), name="archive")
        try:
            await wait_until_archived(redis.client, settings.partitions, stall_s)
        finally:
            consumer.stop()
            await running
