"""One batch of deliveries from the stream to the store: embed, upsert, announce, mark the receipts."""

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import not_
from typing import Final

import structlog
from redis.asyncio import Redis

from lithify.batching import batched_by_weight
from lithify.embedder.known_turns import (
    MadeTurn,
    claim_known,
    is_current,
    is_moved,
    is_older,
    keep_place,
    read_known,
    write_turns,
)
from lithify.embedder.records import bare_record, make_records_leniently, turn_id, why_ignored
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT, Clock, Event
from lithify.forgetting import are_forgotten
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.pieces import where_pieces
from lithify.store.renewal import accepted_at, accepted_before
from lithify.streams import Delivery, Receipts, crash_point, publish_stored
from lithify.streams.receipts import Mark
from lithify.streams.tail import drop_from_tails
from lithify.telemetry.metrics import ACCEPT_TO_SEARCHABLE
from lithify.telemetry.trace_context import trace_id_of

# Enough for a stable 95th percentile, few enough that a recovered worker shows it within two batches.
REMEMBERED: Final = 512
# Of the texts that are embedded and written together: some two thousand pieces, whatever the batch.
MAX_CHARS: Final = 1_000_000


class LatenessMeter:
    """Measures how long turns waited from being accepted to being searchable, for the heartbeat and the metrics.

    Counts what one consumer stored; the percentiles are those of its newest turns.
    """

    def __init__(self) -> None:
        self._stored = 0
        self._newest: deque[int] = deque(maxlen=REMEMBERED)

    def note(self, deliveries: Iterable[Delivery], now_ms: int) -> None:
        """Notes turns that are searchable now. They waited since the moment Redis named their entry by.

        A dead letter that was sent again counts from its new entry on.
        """
        for delivery in deliveries:
            waited_ms = max(0, now_ms - accepted_ms(delivery.stream_id))
            self._stored += 1
            self._newest.append(waited_ms)
            ACCEPT_TO_SEARCHABLE.observe(waited_ms / 1000)

    def outcomes(self) -> dict[str, int]:
        """Returns the counts for the heartbeat; percentiles stand there once there is something to measure."""
        counts = {"stored": self._stored}
        if ordered := sorted(self._newest):
            counts |= {"lateness_p50_ms": percentile(ordered, 50), "lateness_p95_ms": percentile(ordered, 95)}
        return counts


def accepted_ms(stream_id: str) -> int:
    return int(stream_id.partition("-")[0])


def percentile(ordered: list[int], percent: int) -> int:
    """Returns the nearest rank: a value that was measured, never one in between."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddingWorker:
    """Every step may be repeated: ids are deterministic, marks overwrite themselves, readers of `stored` expect it.

    A turn the model cannot embed is stored with its words only, and backfill tries again. That holds for a broken
    runtime, too: its turns stay findable while the embedder's health keeps the process unready and says why.
    """

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    redis: Redis
    executor: Executor
    clock: Clock
    lateness: LatenessMeter = field(default_factory=LatenessMeter)

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """Makes the events searchable, save for those that were forgotten; then they may be acknowledged."""
        deliveries = await self._drop_forgotten(deliveries)
        ignored: list[Mark] = []
        kept: list[Delivery] = []
        for delivery in deliveries:
            if reason := why_ignored(delivery.event):
                ignored.append(receipt_mark(delivery.event, {"ignored": reason}))
            else:
                kept.append(delivery)
        events = {self._id(delivery.event): delivery.event for delivery in kept}
        known = await claim_known(self.store, events, await self._end_former_lives(events))
        errors = await self._store_all([delivery.event for delivery in kept], known)
        crash_point("after_upsert")
        await self._take_back([delivery.event for delivery in kept])
        await self._revive([delivery.event for delivery in kept], known)
        # Said long ago and accepted anew: only now it shows that these are not the newest turns of their sessions.
        await drop_from_tails(self.redis, [one for one in kept if is_moved(one.event, known.get(self._id(one.event)))])
        await publish_stored(self.redis, kept)
        crash_point("after_publish")
        now = self.clock()
        log_traced(delivery.event for delivery in kept)
        stored = [
            receipt_mark(delivery.event, stored_fields(delivery.event, now, error))
            for delivery, error in zip(kept, errors, strict=True)
        ]
        await Receipts(self.redis).mark_all([*stored, *ignored])
        self.lateness.note(kept, now)

    async def _store_all(self, events: Sequence[Event], known: Mapping[str, Record]) -> list[str | None]:
        """Writes the events' records and returns, for each event, why it could not be embedded."""
        # Of several acceptances of one event the last counts.
        newest = {self._id(event): event for event in events}
        placed = [keep_place(event, known.get(id_)) for id_, event in newest.items()]
        missing = [event for event in placed if not self._is_stored(event, known)]
        errors: dict[str, str | None] = {}
        for part in batched_by_weight(missing, lambda event: len(event.text), MAX_CHARS):
            errors |= await self._store(part, known)
        return [errors.get(self._id(event)) for event in events]

    def _is_stored(self, event: Event, known: Mapping[str, Record]) -> bool:
        found = known.get(self._id(event))
        return found is not None and is_current(bare_record(event, self.embedder), found)

    async def _store(self, events: Sequence[Event], known: Mapping[str, Record]) -> dict[str, str | None]:
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(self.executor, make_records_leniently, events, self.embedder, self.analyser)
        crash_point("after_embed")
        turns = [MadeTurn(records, known.get(records[-1].id)) for records, _ in made]
        await write_turns(self.store, turns)
        errors = {turn.id: error for turn, (_, error) in zip(turns, made, strict=True)}
        if failed := sum(error is not None for error in errors.values()):
            log.error("turns_stored_without_vectors", failed=failed, batch=len(errors))
        return errors

    def _id(self, event: Event) -> str:
        return turn_id(event, self.embedder.manifest.family)

    async def _drop_forgotten(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        forgotten = await are_forgotten(self.redis, [delivery.event for delivery in deliveries])
        return list(compress(deliveries, map(not_, forgotten)))

    async def _end_former_lives(self, events: Mapping[str, Event]) -> dict[str, Record]:
        """Returns the stored turns of events, without those that are being forgotten and are said again.

        These go at once: what was accepted anew has a place and a time of its own.
        """
        known = await read_known(self.store, events)
        former = self._find_former(events.values(), known)
        for event in compress(former, await are_forgotten(self.redis, former) if former else ()):
            turn = self._id(event)
            for where in (where_pieces([turn]), Where().ids([turn])):
                await self.store.delete(EVERY_TENANT, COLLECTION, accepted_before(where, event.accepted))
            del known[turn]
        return known

    def _find_former(self, events: Iterable[Event], known: Mapping[str, Record]) -> list[Event]:
        """Returns events as they were accepted when their stored turns were, if that was earlier."""
        return [
            replace(event, accepted=accepted_at(found))
            for event in events
            if (found := known.get(self._id(event))) and is_older(found, event)
        ]

    async def _revive(self, events: Sequence[Event], known: Mapping[str, Record]) -> None:
        """Makes turns active that took over the state of a former one which was forgotten: its summary is gone, too."""
        former = self._find_former(events, known)
        turns = [self._id(event) for event in compress(former, await are_forgotten(self.redis, former))]
        changes = {"active": True, "compacted_into": None}
        for where in (where_pieces(turns), Where().ids(turns)) if turns else ():
            await self.store.set_payload(EVERY_TENANT, COLLECTION, where, changes)

    async def _take_back(self, events: Sequence[Event]) -> None:
        """Deletes what was forgotten while it was embedded, above all if this process had slept meanwhile."""
        for event in compress(events, await are_forgotten(self.redis, events)):
            turn = self._id(event)
            for where in (where_pieces([turn]), Where().ids([turn])):
                await self.store.delete(EVERY_TENANT, COLLECTION, accepted_before(where, event.accepted))


def log_traced(events: Iterable[Event]) -> None:
    """Logs each event that its host follows by a trace."""
    for event in events:
        if trace_id := trace_id_of(event.traceparent):
            log.info("event_stored", event_id=event.event_id, trace_id=trace_id)


def stored_fields(event: Event, now_ms: int, error: str | None) -> dict[str, str | int]:
    """Returns what the receipt of a stored turn says.

    `embedded_at` says that the turn can be recalled, `error` that for now only its words can be found, `trace_id`
    by which trace its host follows it.
    """
    fields: dict[str, str | int] = {"embedded_at": now_ms}
    if error is not None:
        fields["error"] = error
    if trace_id := trace_id_of(event.traceparent):
        fields["trace_id"] = trace_id
    return fields


def receipt_mark(event: Event, fields: Mapping[str, str | int]) -> Mark:
    return event.tenant, event.event_id, fields
