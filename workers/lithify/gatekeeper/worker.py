"""One batch of deliveries through the gate: search, decide, record, promote, mark the receipts."""

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
from lithify.gatekeeper.decision import TurnDecision, add_mentions, durable_record, read_earlier_decision
from lithify.gatekeeper.neighbours import BatchMemory, search_all
from lithify.gatekeeper.turn import StoredTurn, memory_id, stored_turns, turn_id
from lithify.gatekeeper.turn_gate import TurnGate
from lithify.store import LEXICAL, TIER_NAMES, VectorStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Delivery, Receipts, crash_point
from lithify.streams.generations import bump, durable_subject

NO_VECTOR: Final = "the turn has no full vector yet; it is gated once backfill has made it"

Mark = tuple[str, str, Mapping[str, str | int]]
"""Tenant, event id, and the fields to add to the receipt."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class GateTally:
    """What this worker has done with turns since its start; `waiting` ones had no vector."""

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
    judge: TurnGate
    clock: Clock
    tally: GateTally = field(default_factory=GateTally)

    async def handle(self, deliveries: Sequence[Delivery]) -> None:
        """Decisions, promotions and receipts are durable on return.

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
        await self._mark(skipped(event.tenant, event.event_id, f"role {event.role} is never gated") for event in others)
        turns = await self._stored([event for event in events if event.role == Role.USER])
        waiting = [turn for turn in turns if not turn.has_vector]
        verdicts = await self._judge([turn for turn in turns if turn.has_vector])
        crash_point("after_gate_search")
        await self._record(verdicts)
        crash_point("after_gate_record")
        await self._promote(verdicts)
        await self._take_back(events)
        crash_point("after_promotion")
        await self._tell(verdicts)
        await self._mark(skipped(turn.scope.tenant, turn.event_id, NO_VECTOR) for turn in waiting)
        self.tally.waiting += len(waiting)

    async def _stored(self, events: Sequence[Event]) -> list[StoredTurn]:
        ids = [make(event, self.family) for event in events for make in (turn_id, memory_id)]
        # The ids hold the tenant, so that one read serves the whole batch.
        records = await self.store.fetch(EVERY_TENANT, COLLECTION, ids, with_vectors=(*TIER_NAMES, LEXICAL))
        return stored_turns(events, {record.id: record for record in records}, self.family)

    async def _judge(self, turns: Sequence[StoredTurn]) -> list[TurnDecision]:
        earlier = {turn.record.id: verdict for turn in turns if (verdict := read_earlier_decision(turn))}
        found = await search_all(self.store, [turn for turn in turns if turn.record.id not in earlier])
        shelf, verdicts = BatchMemory(), []
        for turn in turns:
            verdict = earlier.get(turn.record.id)
            if verdict is None:
                hits = found[turn.record.id]
                near = shelf.nearest(turn, hits.memories)
                verdict = self.judge.verdict(turn, [hit.score for hit in hits.turns], near)
            shelf.put(verdict)
            verdicts.append(verdict)
        return verdicts

    async def _record(self, verdicts: Sequence[TurnDecision]) -> None:
        """Never the whole record: compaction may have put the turn away since it was read."""
        fresh = {verdict.turn.record.id: verdict.payload() for verdict in verdicts if not verdict.is_recorded}
        # The ids hold the tenant, as they do for the reading.
        await self.store.set_payloads(EVERY_TENANT, COLLECTION, fresh)

    async def _promote(self, verdicts: Sequence[TurnDecision]) -> None:
        made = [durable_record(verdict.turn, verdict.decision) for verdict in verdicts if verdict.makes_memory]
        if made:
            await self.store.upsert(EVERY_TENANT, COLLECTION, made)
        joined: defaultdict[str, list[StoredTurn]] = defaultdict(list)
        for verdict in verdicts:
            if verdict.joins is not None:
                joined[verdict.joins].append(verdict.turn)
        await self._join(joined)

    async def _join(self, turns: Mapping[str, Sequence[StoredTurn]]) -> None:
        """A memory that was forgotten meanwhile stays forgotten."""
        memories = await self.store.fetch(EVERY_TENANT, COLLECTION, list(turns))
        changes = {memory.id: add_mentions(memory.payload, turns[memory.id]) for memory in memories}
        await self.store.set_payloads(EVERY_TENANT, COLLECTION, {id_: new for id_, new in changes.items() if new})

    async def _take_back(self, events: Sequence[Event]) -> None:
        """Forgetting may have passed while these were judged, above all if this process had slept meanwhile."""
        gone = compress(events, await are_forgotten(self.redis, events))
        if ids := [memory_id(event, self.family) for event in gone]:
            await self.store.delete(EVERY_TENANT, COLLECTION, Where().ids(ids))

    async def _tell(self, verdicts: Sequence[TurnDecision]) -> None:
        for tenant, user in {verdict.turn.owner for verdict in verdicts if verdict.memory_id}:
            await bump(self.redis, tenant, durable_subject(user))
        now, threshold = self.clock(), self.judge.config.threshold
        await self._mark((v.turn.scope.tenant, v.turn.event_id, v.receipt(now, threshold)) for v in verdicts)
        self.tally.gated += len(verdicts)
        self.tally.promoted += sum(verdict.memory_id is not None for verdict in verdicts)
        self.tally.merged += sum(verdict.joins is not None for verdict in verdicts)

    async def _fail(self, event: Event, error: Exception) -> None:
        self.tally.failed += 1
        # The type only: an error's words may quote what a user said.
        log.error("gate_failed", event_id=event.event_id, error=type(error).__name__)
        reason = f"not gated: {type(error).__name__}: {error}"
        await self._mark([(event.tenant, event.event_id, {"promoted": "0", "error": reason})])

    async def _mark(self, marks: Iterable[Mark]) -> None:
        by_tenant: defaultdict[str, list[tuple[str, Mapping[str, str | int]]]] = defaultdict(list)
        for tenant, event_id, fields in marks:
            by_tenant[tenant].append((event_id, fields))
        for tenant, marked in by_tenant.items():
            await Receipts(self.redis).mark(tenant, marked)


def skipped(tenant: str, event_id: str, reason: str) -> Mark:
    return tenant, event_id, {"promoted": "0", "gate": orjson.dumps({"skipped": reason}).decode()}
