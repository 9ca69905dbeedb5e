"""Compares what the driver knows with what is there: the promises, one by one."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.chaos.ledger import Ledger
from tests.chaos.observation import Fields, Observation, Point
from tests.chaos.poison import MARK, Poison


@dataclass(frozen=True, slots=True)
class Finding:
    """A promise and whatever breaks it; nothing, if it was kept."""

    promise: str
    broken_by: tuple[str, ...]


Planted = Mapping[str, Poison]
"""By mark."""


def judge(ledger: Ledger, planted: Planted, seen: Observation) -> list[Finding]:
    found = (
        *stored_findings(ledger, seen.points),
        *accepted_findings(ledger, seen, len(planted)),
        *archive_findings(ledger, planted, seen),
        *dead_findings(planted, seen.letters),
        *queue_findings(seen),
    )
    return [Finding(promise, tuple(sorted(broken_by))) for promise, broken_by in found]


Found = Iterator[tuple[str, set[str]]]


def stored_findings(ledger: Ledger, points: list[Point]) -> Found:
    expected = {event_id for event_id, facts in ledger.accepted.items() if facts.becomes_memory}
    turns = [point for point in points if point.piece is None]
    times = Counter(point.event_id for point in turns)
    yield "no accepted event is lost", expected - times.keys()
    yield "nothing is stored that was not accepted", times.keys() - expected
    yield "no event is stored twice", {event_id for event_id, number in times.items() if number > 1}
    known = [point for point in turns if point.event_id in expected]
    altered = {point.event_id for point in known if point.facts != ledger.accepted[point.event_id]}
    yield "text, tenant, user, session and role are as sent", altered
    yield "every vector is that of its text", {point.event_id for point in points if not point.vector_fits}
    yield "a long turn has all its pieces, and no other has any", mismatched_pieces(points)


def mismatched_pieces(points: list[Point]) -> set[str]:
    """Returns the events whose pieces are not those of their turn, each once."""
    expected = {point.event_id: list(enumerate(point.pieces)) for point in points if point.piece is None}
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for point in points:
        if point.piece is not None:
            found[point.event_id].append((point.piece, point.facts.text_hash))
    return {name for name in expected.keys() | found.keys() if sorted(found[name]) != expected.get(name, [])}


def accepted_findings(ledger: Ledger, seen: Observation, planted: int) -> Found:
    yield "every answer of the gateway is right", set(ledger.misjudged)
    yield "an event keeps its one place in the stream", {e for e, places in ledger.places.items() if len(places) != 1}
    surplus = seen.entries - len(ledger.accepted) - planted
    yield "each event is published once", {f"{surplus:+d} entries"} if surplus else set()
    yield "the positions of a session have no gap", uneven_sessions(ledger)
    yield "every receipt is complete", incomplete_receipts(ledger, seen.receipts)


def uneven_sessions(ledger: Ledger) -> set[str]:
    positions: dict[str, list[int]] = defaultdict(list)
    for event_id, facts in ledger.accepted.items():
        positions[facts.session] += [seq for _, seq in ledger.places[event_id]]
    return {session for session, given in positions.items() if sorted(given) != list(range(1, len(given) + 1))}


def incomplete_receipts(ledger: Ledger, receipts: Mapping[str, Fields]) -> set[str]:
    """Also one of an event that was never accepted, and one that tells of an error."""
    bad = receipts.keys() ^ ledger.accepted.keys()
    for event_id, facts in ledger.accepted.items():
        receipt = receipts.get(event_id, {})
        stage = "embedded_at" if facts.becomes_memory else "ignored"
        place = (receipt.get("stream_id", ""), int(receipt.get("seq", 0)))
        if "error" in receipt or not {"accepted_at", stage} <= receipt.keys() or {place} != ledger.places[event_id]:
            bad.add(event_id)
    return bad


def archive_findings(ledger: Ledger, planted: Planted, seen: Observation) -> Found:
    if seen.archived is None:
        return
    event_ids = {line.event_id for line in seen.archived}
    readable = {poison.event_id for poison in planted.values() if poison.event_id}
    yield "every accepted event is archived", ledger.accepted.keys() - event_ids
    yield "nothing else is archived", event_ids - ledger.accepted.keys() - readable
    known = [line for line in seen.archived if line.event_id in ledger.accepted]
    altered = {line.event_id for line in known if line.facts != ledger.accepted[line.event_id]}
    moved = {line.event_id for line in known if line.place not in ledger.places[line.event_id]}
    yield "archived events are as accepted", altered | moved
    yield "the archive is whole", set(seen.damage)


def dead_findings(planted: Planted, letters: list[Fields]) -> Found:
    expected = {f"{mark} in {group}" for mark, poison in planted.items() for group in poison.kills_in}
    times = Counter(name_of(letter) for letter in letters)
    yield "every poison message is a dead letter", expected - times.keys()
    yield "nothing else is a dead letter", times.keys() - expected
    yield "no message is buried twice", {name for name, number in times.items() if number > 1}
    kept = [letter for letter in letters if name_of(letter) in expected]
    altered = {name_of(letter) for letter in kept if not planted[letter[MARK]].fields.items() <= letter.items()}
    yield "dead letters keep the original", altered


def name_of(letter: Fields) -> str:
    return f"{letter.get(MARK, letter.get('dead_id'))} in {letter.get('dead_group')}"


def queue_findings(seen: Observation) -> Found:
    yield "nothing is left unread", {f"{seen.unread} messages"} if seen.unread else set()
    yield "nothing is left unacknowledged", {f"{seen.pending} messages"} if seen.pending else set()
    yield "every key expires or is declared permanent", set(seen.immortal_keys)
