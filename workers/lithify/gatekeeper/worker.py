"""One batch of deliveries through the gate: search, decide, record, promote, keep instructions, mark the receipts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final

import orjson
import structlog
from redis.asyncio import Redis

from lithify.errors import Misconfigured, Unavailable
from lithify.events import EVERY_TENANT, Clock, Event, Role
from lithify.forgetting import are_forgotten
from lithify.gatekeeper.gated_turn import GatedTurn, add_mentions, read_earlier_gating
from lithify.gatekeeper.neighbours import BatchMemory, find_neighbours
from lithify.gatekeeper.turn import StoredTurn, memory_id, stored_turns, turn_id
from lithify.gatekeeper.turn_gate import TurnGate
from lithify.memory.guidance import is_standing_instruction
from lithify.store import LEXICAL, TIER_NAMES, VectorStore, Where
from lithify.store.guidance_record import guidance_id, make_guidance
from lithify.store.memory_record import COLLECTION
from lithify.store.renewal import accepted_before, renew_same, where_earlier
from lithify.streams import Delivery, Receipts, crash_point
from lithify.streams.generations import bump, durable_subject
from lithify.streams.receipts import Mark
from lithify.supersession import apply_supersedes, mark_outdated

NO_VECTOR: Final = "the turn has no full vector yet; it is gated once backfill has made it"

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class GateTally:
    """Counts what this worker has done with turns since its start; `waiting` ones had no vector."""

    gated: int = 0
    promoted: int = 0
    merged: int = 0
    waiting: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class GateWorker:
    """Every step may be repeated: a decision is written to its turn before it takes effect, and is not made twice.

    Two workers that gate similar turns of one user at the same moment do not see each other's promotion: at worst
    there are two memories of the same, or one mention of a memory is lost. Nothing that was said is.
    """

    store: VectorStore
    redis: Redis
    family: str
    gate: TurnGate
    clock: Clock
    keeps_instructions: bool = True
    tally: GateTally = field(default_factory=GateTally)

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """Gates the turns; decisions, promotions and receipts are durable on return.

        A turn that cannot be gated is not promoted, and that is all: its receipt and the tally tell.
        """
        try:
            await self._gate([delivery.event for delivery in deliveries])
        except (Unavailable, Misconfigured):
            raise
        except Exception as error:
            # Out of a batch each one comes again alone, and only the bad one fails.
            if len(deliveries) > 1:
                raise
            await self._fail(deliveries[0].event, error)

    async def _gate(self, events: Sequence[Event]) -> None:
        others = [event for event in events if event.role != Role.USER]
        await self._mark(
            skip_mark(event.tenant, event.event_id, f"role {event.role} is never gated") for event in others
        )
        turns = await self._read_turns([event for event in events if event.role == Role.USER])
        waiting = [turn for turn in turns if not turn.has_vector]
        gated = await self._decide([turn for turn in turns if turn.has_vector])
        crash_point("after_gate_search")
        await self._record(gated)
        crash_point("after_gate_record")
        await self._promote(gated)
        await self._keep_instructions([one.turn for one in gated])
        await self._mark_outdated(turns)
        await self._take_back(events)
        crash_point("after_promotion")
        await self._report(gated)
        await self._mark(skip_mark(turn.scope.tenant, turn.event_id, NO_VECTOR) for turn in waiting)
        self.tally.waiting += len(waiting)

    async def _read_turns(self, events: Sequence[Event]) -> list[StoredTurn]:
        ids = [make(event, self.family) for event in events for make in (turn_id, memory_id)]
        # The ids hold the tenant, so that one read serves the whole batch.
        records = await self.store.fetch(EVERY_TENANT, COLLECTION, ids, with_vectors=(*TIER_NAMES, LEXICAL))
        return stored_turns(events, {record.id: record for record in records}, self.family)

    async def _decide(self, turns: Sequence[StoredTurn]) -> list[GatedTurn]:
        limits = self.gate.config.limits
        earlier = {turn.record.id: gated for turn in turns if (gated := read_earlier_gating(turn))}
        undecided = [turn for turn in turns if turn.record.id not in earlier]
        found = await find_neighbours(self.store, undecided, limits, self.gate.background)
        memory = BatchMemory(limits)
        decided: list[GatedTurn] = []
        for turn in turns:
            gated = earlier.get(turn.record.id)
            if gated is None:
                hits = found[turn.record.id]
                near = memory.find_nearest(turn, hits.memories)
                gated = self.gate.decide(turn, [hit.score for hit in hits.turns], near)
            memory.add(gated)
            decided.append(gated)
        return decided

    async def _record(self, gated: Sequence[GatedTurn]) -> None:
        """Writes the decisions, never the whole records: compaction may have put a turn away since it was read."""
        fresh = {one.turn.record.id: one.payload() for one in gated if not one.is_recorded}
        # The ids hold the tenant, as they do for the reading.
        await self.store.set_payloads(EVERY_TENANT, COLLECTION, fresh)

    async def _promote(self, gated: Sequence[GatedTurn]) -> None:
        anew = [one.turn for one in gated if one.turn.is_accepted_anew]
        await renew_same(self.store, {turn.memory_id: turn.record for turn in anew}, [turn.own for turn in anew])
        made = [one.durable_record() for one in gated if one.makes_memory]
        if made:
            # One that another worker has made meanwhile is left alone: it may be mentioned by now.
            await self.store.upsert(EVERY_TENANT, COLLECTION, made, replacing=where_earlier(made))
        joining: defaultdict[str, list[StoredTurn]] = defaultdict(list)
        for one in gated:
            if one.joins is not None:
                joining[one.joins].append(one.turn)
        await self._join(joining)

    async def _keep_instructions(self, turns: Sequence[StoredTurn]) -> None:
        """Keeps what is asked for from now on word for word: the next conversation may begin in a minute."""
        standing = [turn for turn in turns if is_standing_instruction(turn.text)] if self.keeps_instructions else []
        if not standing:
            return
        records = [make_guidance(turn.record, self.family) for turn in standing]
        known = await self.store.fetch(EVERY_TENANT, COLLECTION, [record.id for record in records])
        await renew_same(self.store, {record.id: record for record in records}, known)
        # Those that are there may be outdated by now, which a repeated delivery must not undo.
        await self.store.upsert(EVERY_TENANT, COLLECTION, records, replacing=where_earlier(records))
        for tenant, user in {turn.owner for turn in standing}:
            await bump(self.redis, tenant, durable_subject(user))

    async def _mark_outdated(self, turns: Sequence[StoredTurn]) -> None:
        """Lets the newest of what a user states stand before the older; turns and the memories made of them alike.

        What a host said outright comes last and counts; the receipt tells whether there was such a memory.
        """
        for turn in turns:
            await mark_outdated(self.store, turn.scope, turn.record)
            if told := await apply_supersedes(self.store, turn.scope, turn.record):
                await self._mark([(turn.scope.tenant, turn.event_id, told)])

    async def _join(self, turns: Mapping[str, Sequence[StoredTurn]]) -> None:
        """Adds turns to the memories they repeat; a memory that was forgotten meanwhile stays forgotten."""
        memories = await self.store.fetch(EVERY_TENANT, COLLECTION, list(turns))
        changes = {memory.id: add_mentions(memory.payload, turns[memory.id]) for memory in memories}
        await self.store.set_payloads(EVERY_TENANT, COLLECTION, {id_: new for id_, new in changes.items() if new})

    async def _take_back(self, events: Sequence[Event]) -> None:
        """Deletes what was forgotten while it was gated, above all if this process had slept meanwhile."""
        for event in compress(events, await are_forgotten(self.redis, events)):
            made = (memory_id(event, self.family), guidance_id(event.tenant, event.event_id, self.family))
            await self.store.delete(EVERY_TENANT, COLLECTION, accepted_before(Where().ids(made), event.accepted))

    async def _report(self, gated: Sequence[GatedTurn]) -> None:
        for tenant, user in {one.turn.owner for one in gated if one.memory_id}:
            await bump(self.redis, tenant, durable_subject(user))
        now = self.clock()
        threshold = self.gate.config.threshold
        await self._mark(
            (one.turn.scope.tenant, one.turn.event_id, one.receipt_fields(now, threshold)) for one in gated
        )
        self.tally.gated += len(gated)
        self.tally.promoted += sum(one.memory_id is not None for one in gated)
        self.tally.merged += sum(one.joins is not None for one in gated)

    async def _fail(self, event: Event, error: Exception) -> None:
        self.tally.failed += 1
        # The type only: an error's words may quote what a user said.
        log.error("gate_failed", event_id=event.event_id, error=type(error).__name__)
        reason = f"not gated: {type(error).__name__}: {error}"
        await self._mark([(event.tenant, event.event_id, {"promoted": "0", "error": reason})])

    async def _mark(self, marks: Iterable[Mark]) -> None:
        await Receipts(self.redis).mark_all(marks)


def skip_mark(tenant: str, event_id: str, reason: str) -> Mark:
    """Makes the mark of a turn that the gate did not look at."""
    return tenant, event_id, {"promoted": "0", "gate": orjson.dumps({"skipped": reason}).decode()}
