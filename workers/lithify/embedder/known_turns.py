"""Turns that are stored already: what an event that comes again may change about them, and what it may not.

An event comes again after a crash, from a worker that slept, or from a host that repeats it past its receipt.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from lithify.archive.carrying import STATE
from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT, Event
from lithify.indexing.division import SHARED_FIELDS
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.pieces import is_piece, where_pieces
from lithify.store.reading import every_record
from lithify.store.renewal import ACCEPTED, accepted_at, renew_acceptance
from lithify.store.where import NO_RECORD

# Compaction and the gate write to a turn a few times in its life; to meet them twice in a row is bad luck already.
TRIES: Final = 5

DECIDED: Final = frozenset(item.name for item in fields(MemoryRecord)) - {*STATE, MISSING_TIERS, ACCEPTED}
"""What an event says about its turn; everything else was added to the turn later, by others."""

# A turn is written anew only while it has of these what it had when it was read.
GUARDED: Final = (*STATE, ACCEPTED)


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """Holds the records of one event, its pieces before it, and the turn that was stored when they were made."""

    records: Sequence[Record]
    known: Record | None

    @property
    def id(self) -> str:
        return self.records[-1].id

    @property
    def accepted(self) -> int:
        return accepted_at(self.records[-1])


async def claim_known(
    store: VectorStore, events: Mapping[str, Event], known: Mapping[str, Record]
) -> Mapping[str, Record]:
    """Returns the known turns of events by their ids; those that were accepted anew count as accepted then.

    From that moment on a forgetting of what was before leaves them alone; what it took before is not among them. A turn
    that says something else is not claimed: its words must not outlive a forgetting under the name of others.
    """
    older = {id_: events[id_] for id_, turn in known.items() if is_older(turn, events[id_])}
    anew = {id_: event.accepted or 0 for id_, event in older.items() if known[id_].payload["text"] == event.text}
    if not anew:
        return known
    await renew_acceptance(store, anew)
    return await read_known(store, events)


async def read_known(store: VectorStore, ids: Iterable[str]) -> dict[str, Record]:
    return {record.id: record for record in await store.fetch(EVERY_TENANT, COLLECTION, list(ids))}


def is_older(known: Record, event: Event) -> bool:
    """Says whether the stored turn was accepted before the event, and not as it."""
    return event.accepted is not None and accepted_at(known) < event.accepted


def is_same_turn(known: Record, user: str, session: str) -> bool:
    """Says whether the stored turn is this one: the same id elsewhere is another turn, which takes its place."""
    return (known.payload.get("user"), known.payload.get("session")) == (user, session)


def is_moved(event: Event, known: Record | None) -> bool:
    """Says whether the event was accepted at another position than its turn has: it was said before."""
    if known is None or not is_same_turn(known, event.user, event.session):
        return False
    return known.payload.get("seq") not in (None, event.seq)


def keep_place(event: Event, known: Record | None) -> Event:
    """Returns the event with the position and the time that its turn has had since it was first stored."""
    if known is None or not is_same_turn(known, event.user, event.session):
        return event
    seq = known.payload.get("seq")
    return replace(event, seq=event.seq if seq is None else seq, ts=known.payload.get("ts", event.ts))


def is_current(made: Record, known: Record) -> bool:
    """Says whether the stored turn has its vectors, and says already what the event would, or a later one did."""
    if accepted_at(known) > accepted_at(made):
        return True
    return not known.payload.get(MISSING_TIERS) and _select_decided(made.payload) == _select_decided(known.payload)


def _select_decided(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {name: payload[name] for name in DECIDED if payload.get(name) not in (None, [])}


async def write_turns(store: VectorStore, turns: Sequence[MadeTurn]) -> None:
    """Writes turns with their pieces: new ones are added, known ones keep whatever the event does not decide.

    A turn that another worker has stored in the meantime stays as it is. One that was changed in the meantime is read
    again first. May be repeated. Raises Unavailable, above all if a turn changes all the time.
    """
    await _add([turn for turn in turns if turn.known is None], store)
    changed = [turn for turn in turns if turn.known is not None]
    for _ in range(TRIES):
        if not changed:
            return
        changed = await _change(changed, store)
    if changed:
        raise Unavailable(f"{len(changed)} turns were changed by others whenever they were to be written")


async def _add(turns: Sequence[MadeTurn], store: VectorStore) -> None:
    """Adds what is missing. What a dead worker left of other pieces, cut from another text, goes before."""
    if not turns:
        return
    texts = {record.id: record.payload["text"] for turn in turns for record in turn.records}
    found = every_record(store, EVERY_TENANT, COLLECTION, where_pieces([turn.id for turn in turns]))
    await _remove([piece.id async for piece in found if texts.get(piece.id) != piece.payload.get("text")], store)
    records = [record for turn in turns for record in turn.records]
    # One write for all tenants of the batch, not one sync to disk for each; every record carries its own tenant.
    await store.upsert(EVERY_TENANT, COLLECTION, records, replacing=_where_forgotten(turns))


def _where_forgotten(turns: Sequence[MadeTurn]) -> Where:
    """Selects what was accepted before all of these turns and has come since they were looked for.

    Only a worker that slept writes it, of a turn that was forgotten in the meantime and accepted anew.
    """
    earliest = min(turn.accepted for turn in turns)
    return Where().between(ACCEPTED, None, earliest - 1) if earliest else NO_RECORD


async def _change(turns: Sequence[MadeTurn], store: VectorStore) -> list[MadeTurn]:
    """Writes known turns anew, and returns those that meanwhile had another state than was written."""
    based = [_take_state(turn) for turn in turns]
    pieces = [record for records in based for record in records[:-1]]
    found = every_record(store, EVERY_TENANT, COLLECTION, where_pieces([turn.id for turn in turns]))
    stale = {piece.id async for piece in found} - {piece.id for piece in pieces}
    if pieces:
        await store.upsert(EVERY_TENANT, COLLECTION, pieces)
    for turn, records in zip(turns, based, strict=True):
        await store.upsert(EVERY_TENANT, COLLECTION, records[-1:], replacing=_where_state(turn.known))
    await _remove(list(stale), store)
    now = await read_known(store, [turn.id for turn in turns])
    # A turn that is gone was forgotten; whoever writes it looks for that afterwards.
    return [replace(turn, known=now[turn.id]) for turn in turns if turn.id in now and _is_missed(turn, now[turn.id])]


async def _remove(ids: Sequence[str], store: VectorStore) -> None:
    if ids:
        await store.delete(EVERY_TENANT, COLLECTION, Where().ids(ids))


def _is_missed(turn: MadeTurn, now: Record) -> bool:
    """Says whether the turn was changed before it could be written; what was accepted later stands."""
    if accepted_at(now) != turn.accepted:
        return accepted_at(now) < turn.accepted
    return turn.known is not None and _state(turn.known) != _state(now)


def _state(record: Record, names: Sequence[str] = STATE) -> dict[str, Any]:
    return {name: record.payload.get(name) for name in names}


def _where_state(known: Record | None) -> Where:
    """Selects the record while it has the state in which it was read."""
    where = Where()
    for name, value in ({} if known is None else _state(known, GUARDED)).items():
        if value is None:
            where = where.missing(name)
        elif isinstance(value, str | bool):
            where = where.equals(name, value)
        else:
            where = where.between(name, value, value)
    return where


def _take_state(turn: MadeTurn) -> list[Record]:
    """Returns the made records with what was added to the stored turn; pieces have of it what is theirs."""
    known = turn.known
    own = turn.records[-1].payload
    if known is None or not is_same_turn(known, own["user"], own["session"]):
        return list(turn.records)
    own_words = {*DECIDED, MISSING_TIERS, ACCEPTED}
    added = {name: value for name, value in known.payload.items() if name not in own_words}
    return [_add_state(record, added) for record in turn.records]


def _add_state(record: Record, added: Mapping[str, Any]) -> Record:
    own = {name: value for name, value in added.items() if not is_piece(record) or name in SHARED_FIELDS}
    made = {name: value for name, value in record.payload.items() if name not in STATE}
    return replace(record, payload={**made, **own})
