"""Marks in the store which memories are out of date: what a user said anew carries on, the older stays findable."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from lithify.events import TenantScope
from lithify.memory.guidance import read_statement
from lithify.memory.updates import Statement
from lithify.memory.updates.supersession import find_superseded, replaces, time_key
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES

# Records that speak of the same attribute; whoever has more has repeated himself.
MAX_RECORDS: Final = 512
REPLACEABLE: Final = frozenset({"turn", "memory", "guidance"})
OUTDATED: Final = ("superseded_by", "superseded_by_turn")


async def mark_outdated(store: VectorStore, scope: TenantScope, record: Record) -> dict[str, str]:
    """Marks what the record replaces, and the record itself if something newer replaces it, with all their copies.

    Decided by the time of each statement, so that the order of arrival does not matter; repeating it changes nothing.
    Returns the id of the successor by the event id of each statement that is out of date.
    """
    payload = record.payload
    claims = payload.get("claims")
    if not claims:
        return {}
    where = Where().equals("user", payload["user"]).any_of("claims", claims)
    page = await store.scroll(scope, COLLECTION, where, limit=MAX_RECORDS)
    copies = group_by_event([*page.records, record])
    successors = find_successors(payload["event_id"], copies)
    marks = {
        one.id: {"superseded_by": copies[newer][0].id, "superseded_by_turn": newer}
        for older, newer in successors.items()
        for one in copies[older]
    }
    await store.set_payloads(scope, COLLECTION, {id_: mark for id_, mark in marks.items() if mark})
    return {older: copies[newer][0].id for older, newer in successors.items()}


def group_by_event(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Returns the copies of each statement by its event id, the turn before the memories made of it."""
    copies: defaultdict[str, dict[str, Record]] = defaultdict(dict)
    for record in records:
        copies[record.payload["event_id"]][record.id] = record
    return {event: sorted(known.values(), key=_turn_first) for event, known in copies.items()}


def _turn_first(record: Record) -> tuple[bool, str]:
    return record.payload.get("kind") != "turn", record.id


def find_successors(event_id: str, copies: Mapping[str, Sequence[Record]]) -> dict[str, str]:
    """Returns, for each statement that this one concerns and that is out of date, the newest that replaces it."""
    statements = {event: make_statement(event, known[0].payload) for event, known in copies.items()}
    concerned = find_superseded(statements[event_id], statements.values())
    return {older: _newest(statements[older], statements.values()) for older in concerned}


def _newest(older: Statement, statements: Iterable[Statement]) -> str:
    later = (one for one in statements if time_key(one) > time_key(older) and replaces(one, older))
    return max(later, key=time_key).id


def make_statement(event_id: str, payload: Mapping[str, Any]) -> Statement:
    return Statement(
        id=event_id,
        ts=payload["ts"],
        claims=read_statement(payload["text"]),
        seq=payload.get("seq") or 0,
        session=payload.get("session"),
    )


async def replace_memory(store: VectorStore, scope: TenantScope, newer: Record, older: Record) -> None:
    """Marks one memory as replaced by another because a host said so, with all its copies."""
    mark = {"superseded_by": newer.id, "superseded_by_turn": newer.payload.get("event_id")}
    await store.set_payload(scope, COLLECTION, _where_copies(older), mark)


def _where_copies(record: Record) -> Where:
    event_id = record.payload.get("event_id")
    if event_id is None:
        return Where().ids([record.id])
    return WITHOUT_PIECES.equals("user", record.payload["user"]).equals("event_id", event_id)


async def find_replaced(store: VectorStore, scope: TenantScope, user: str, record_id: str) -> Record | None:
    """Reads the memory that a host wants to be replaced; None unless it is one that this user said or was told of."""
    found = await store.fetch(scope, COLLECTION, [record_id])
    is_own = bool(found) and found[0].payload["user"] == user and found[0].payload["kind"] in REPLACEABLE
    return found[0] if is_own else None


async def apply_supersedes(store: VectorStore, scope: TenantScope, newer: Record) -> dict[str, str]:
    """Marks what the host of a turn said it replaces; repeating it changes nothing.

    Returns what the receipt says of it: `superseded`, or `supersedes_error` if the user has no such memory.
    """
    named = newer.payload.get("supersedes")
    if not named:
        return {}
    older = await find_replaced(store, scope, newer.payload["user"], named)
    if older is None or older.payload.get("event_id") == newer.payload["event_id"]:
        # Whose ever it is, an export of this user must not name it.
        await store.set_payload(scope, COLLECTION, _where_copies(newer), {"supersedes": None})
        return {"supersedes_error": f"no other memory {named!r} of this user"}
    await replace_memory(store, scope, newer, older)
    return {"superseded": named}


async def restore_outdated(
    store: VectorStore, scope: TenantScope, forgotten: Sequence[str], collection: str = COLLECTION
) -> None:
    """Takes the mark off what was replaced by memories that are forgotten now."""
    if forgotten:
        where = Where().any_of("superseded_by", forgotten)
        await store.set_payload(scope, collection, where, dict.fromkeys(OUTDATED))
