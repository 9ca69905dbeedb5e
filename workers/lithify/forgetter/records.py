"""The vector store: turns, the memories, shards and summaries made from them, in every collection that has them."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from redis.asyncio import Redis

from lithify.archive import exclude_copies
from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.forgetter.place import ForgettingRun
from lithify.forgetter.sessions import SCAN
from lithify.forgetting import Target, TargetKind
from lithify.memory.compaction.summary import summary_id
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES
from lithify.store.pieces import is_piece
from lithify.store.reading import every_record
from lithify.store.renewal import ACCEPTED, accepted_before
from lithify.streams import Receipts, crash_point, keys
from lithify.streams.generations import bump, durable_subject
from lithify.streams.outage import outages
from lithify.supersession import restore_outdated

# Documents are the operator's and are removed by their name; their records call it `source_ref`, too.
AUTHORED = "authored"
SUMMARY = "summary"

PAGE: Final = 256


async def memory_collections(store: VectorStore) -> list[str]:
    """Returns the collections that hold memories: the present one, and what a rebuild or re-embedding made or kept."""
    names = [spec.name for spec in await store.collections()]
    return [name for name in names if name == COLLECTION or name.startswith(f"{COLLECTION}-")]


def target_condition(target: Target) -> Where:
    """Returns what picks the target's own records in its scope; memories and guidance keep session and source of their
    turn.
    """
    match target.kind:
        case TargetKind.USER:
            return Where().differs("kind", AUTHORED)
        case TargetKind.SESSION:
            return Where().equals("session", target.name)
        case TargetKind.SOURCE:
            return Where().equals("source_ref", target.name).differs("kind", AUTHORED)
        case TargetKind.MEMORY if target.events:
            return Where().any_of("event_id", target.events)
        case TargetKind.MEMORY:
            return Where().ids([target.name])


@dataclass(frozen=True, slots=True)
class Doomed:
    """Records of one page and what they take along; `events` are the turns among them."""

    records: Sequence[Record] = ()
    summaries: Sequence[Record] = ()
    events: Collection[str] = field(default_factory=set)

    @property
    def ids(self) -> list[str]:
        return list({record.id for record in (*self.records, *self.summaries)})

    @property
    def memories(self) -> int:
        """Counts what the receipt names; a piece goes with its turn, and only what is left of it is counted."""
        return len({record.id for record in (*self.records, *self.summaries) if not is_piece(record)})

    @property
    def owners(self) -> set[str]:
        return {record.payload["user"] for record in (*self.records, *self.summaries)}


@dataclass(frozen=True, slots=True)
class Records:
    """Former collections that a rebuild or re-embedding left are cleared like the present one.

    `archive` is where those two hold their lock: a copy under way could bring back what is deleted here.
    """

    store: VectorStore
    redis: Redis
    archive: Path
    name: str = "memories"

    async def clear(self, run: ForgettingRun) -> int:
        removed = 0
        async with exclude_copies(self.archive, self.redis):
            for collection in await memory_collections(self.store):
                async for doomed in self._find_doomed(run, collection):
                    await self._forget(run, collection, doomed)
                    crash_point("forget_page")
                    removed += doomed.memories
        if run.target.kind is TargetKind.USER:
            await drop_use_counts(self.redis, run.target.tenant, run.target.user or "")
        return removed

    async def count_left(self, run: ForgettingRun) -> int:
        found = 0
        for collection in await memory_collections(self.store):
            found += sum([len(doomed.ids) async for doomed in self._find_doomed(run, collection)])
            if run.target.events:
                where = Where().equals("kind", SUMMARY).any_of("source_ids", run.target.events)
                found += await self.store.count(run.target.scope, collection, accepted_before(where, run.before_ms))
        return found

    async def _find_doomed(self, run: ForgettingRun, collection: str) -> AsyncIterator[Doomed]:
        async for page in self._pages(run, collection):
            untold = [record for record in page if ACCEPTED not in record.payload]
            old = await run.find_doomed_ids({event for record in untold for event in events_of(record)})
            doomed = [record for record in page if is_doomed(record, run, old)]
            if doomed:
                events = {event for record in doomed for event in said_by(record)}
                yield Doomed(doomed, await self._find_summaries(run, collection, doomed, events), events)

    async def _pages(self, run: ForgettingRun, collection: str) -> AsyncIterator[list[Record]]:
        after: str | None = None
        while True:
            where = target_condition(run.target)
            scope = run.target.scope
            page = await self.store.scroll(scope, collection, where, limit=PAGE, after=after)
            yield page.records
            if page.next is None:
                return
            after = page.next

    async def _find_summaries(
        self, run: ForgettingRun, collection: str, doomed: Sequence[Record], events: Collection[str]
    ) -> list[Record]:
        """Finds summaries that go along in the sessions of the turns."""
        found: list[Record] = []
        for user, session in {(r.payload["user"], s) for r in doomed if (s := r.payload.get("session"))}:
            scope = TenantScope(run.target.tenant, user)
            where = Where().equals("kind", SUMMARY).equals("session", session)
            listed = [record async for record in every_record(self.store, scope, collection, where)]
            found += find_covering(listed, events, {record.id for record in doomed})
        return found

    async def _forget(self, run: ForgettingRun, collection: str, doomed: Doomed) -> None:
        """Deletes records, the derived ones before their origins: a crash must leave the way to the former."""
        pieces = [record for record in doomed.records if is_piece(record)]
        origins = [record for record in doomed.records if not is_piece(record)]
        await self._reactivate(run, collection, doomed, without=doomed.ids)
        await self._remove_mentions(run, collection, doomed)
        # Before the deletion: a crash in between finds what is doomed again.
        await restore_outdated(self.store, run.target.scope, doomed.ids, collection)
        await run.drop_receipts(doomed.events)
        for user in doomed.owners:
            await drop_use_counts(self.redis, run.target.tenant, user, doomed.ids)
        if doomed.summaries:
            # Also such as were made of later turns, with a forgotten one at hand.
            where = Where().ids([record.id for record in doomed.summaries])
            await self.store.delete(run.target.scope, collection, where)
        for records in filter(None, (pieces, origins)):
            # What was accepted anew and written since it was read stays.
            where = accepted_before(Where().ids([record.id for record in records]), run.before_ms)
            await self.store.delete(run.target.scope, collection, where)
        await self._reactivate(run, collection, doomed)
        for user in doomed.owners:
            await bump(self.redis, run.target.tenant, durable_subject(user))

    async def _reactivate(
        self, run: ForgettingRun, collection: str, doomed: Doomed, without: Collection[str] = ()
    ) -> None:
        """Makes turns that stay active again where their summary goes: before that, and once more when it is gone.

        Only afterwards it is certain which stay: one may have been accepted anew since it was read.
        """
        gone = {r.id for r in (*doomed.records, *doomed.summaries) if r.payload.get("kind") == SUMMARY}
        if not gone:
            return
        kept = Where().any_of("compacted_into", gone).without_ids(without)
        found = every_record(self.store, run.target.scope, collection, kept & WITHOUT_PIECES)
        turns = [record async for record in found]
        await self.store.set_payload(run.target.scope, collection, kept, {"active": True, "compacted_into": None})
        marks = [(str(turn.payload["event_id"]), {"compacted_into": ""}) for turn in turns]
        await Receipts(self.redis).mark(run.target.tenant, marks)

    async def _remove_mentions(self, run: ForgettingRun, collection: str, doomed: Doomed) -> None:
        """Takes forgotten turns out of the memories that other turns had made, which stay."""
        if run.target.kind is TargetKind.USER or not doomed.events:
            return
        for user in doomed.owners:
            scope = TenantScope(run.target.tenant, user)
            where = Where().equals("kind", "memory").any_of("mentions", doomed.events).without_ids(doomed.ids)
            async for memory in every_record(self.store, scope, collection, where):
                rest = [name for name in memory.payload["mentions"] if name not in doomed.events]
                await self.store.set_payload(scope, collection, Where().ids([memory.id]), {"mentions": rest})


def is_doomed(record: Record, run: ForgettingRun, old: Collection[str]) -> bool:
    """Tells whether a targeted record goes: all but what was said, or made of what was said, after the request.

    `old` are the events accepted before it, of records that do not say so themselves.
    """
    accepted = record.payload.get(ACCEPTED)
    if accepted is not None:
        return int(accepted) <= run.before_ms
    if record.payload.get("kind") == SUMMARY and record.id == run.target.name:
        return True
    events = events_of(record)
    return not events or not events.isdisjoint(old)


def said_by(record: Record) -> set[str]:
    """Returns the event that a record repeats, if it does."""
    event = record.payload.get("event_id")
    return {str(event)} if event else set()


def events_of(record: Record) -> set[str]:
    """Returns the events whose words a record has: its own, or those a summary covers."""
    return said_by(record) | source_ids(record)


def find_covering(summaries: Sequence[Record], events: Collection[str], ids: Collection[str] = ()) -> list[Record]:
    """Returns the summaries that may hold words of a forgotten turn.

    These cover one of the events or are named by their ids, or were written with such a one at hand: an abstractive
    summary may have taken over its words.
    """
    doomed = {
        record.id: record for record in summaries if record.id in ids or not source_ids(record).isdisjoint(events)
    }
    rest = {record.id: record for record in summaries if record.id not in doomed}
    while found := _resting_on(rest.values(), {own_summary_id(record.payload) for record in doomed.values()}):
        doomed |= found
        rest = {id_: record for id_, record in rest.items() if id_ not in found}
    return list(doomed.values())


def _resting_on(summaries: Iterable[Record], doomed: Collection[str]) -> dict[str, Record]:
    return {record.id: record for record in summaries if not support_ids(record.payload).isdisjoint(doomed)}


def source_ids(record: Record) -> set[str]:
    return set(record.payload.get("source_ids", ()))


def own_summary_id(payload: Mapping[str, Any]) -> str:
    """Returns the id by which other summaries name this one."""
    return summary_id(payload.get("session") or "", payload.get("source_ids", ()))


def support_ids(payload: Mapping[str, Any]) -> set[str]:
    lineage = payload.get("lineage") or {}
    return {*lineage.get("parent_summary_ids", ()), *lineage.get("support_summary_ids", ())}


async def drop_use_counts(redis: Redis, tenant: str, user: str, ids: Collection[str] | None = None) -> None:
    """Forgets how often a user's memories were used, of all or of some; what is shared is counted with every user.

    Raises Unavailable if Redis did not answer.
    """
    with outages():
        if ids is None:
            await redis.delete(keys.use_counts(tenant, user))
            return
        names = [keys.use_counts(tenant, user).encode()]
        if user == SHARED:
            names += [name async for name in redis.scan_iter(keys.every_use_count(tenant), count=SCAN)]
        for name in names:
            await redis.hdel(name.decode(), *ids)
