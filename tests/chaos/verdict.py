"""Compares what the driver knows with what is there: the promises, one by one, and what it means if one is broken."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final, TypeAlias

from tests.chaos.ledger import Acceptance, Ledger, Name
from tests.chaos.lives import Lives
from tests.chaos.observation import Fields, Kept, Observation, StoredRecord
from tests.chaos.poison import MARK, Poison
from tests.chaos.verdict_on_compaction import compaction_findings
from tests.chaos.verdict_on_forgetting import forgetting_findings
from tests.chaos.verdict_words import Breach, Finding, Found, make_findings

TAIL_TURNS: Final = 64
COPIES: Final = ("memory", "guidance")

Planted: TypeAlias = Mapping[str, Poison]
"""By mark."""


def judge(ledger: Ledger, planted: Planted, seen: Observation) -> list[Finding]:
    lives = Lives(ledger, seen.erasures, seen.archived or ())
    return make_findings(
        chain(
            stored_findings(lives, seen.records),
            word_findings(lives, seen),
            accepted_findings(ledger, lives, seen, len(planted)),
            archive_findings(lives, planted, seen),
            tail_findings(lives, seen.tails),
            dead_findings(lives, planted, seen.letters),
            compaction_findings(lives, seen.records),
            forgetting_findings(ledger, lives, seen),
            queue_findings(seen),
        )
    )


def stored_findings(lives: Lives, records: list[StoredRecord]) -> Found:
    expected = {name: one for name, one in lives.alive.items() if one.facts.becomes_memory}
    turns = [record for record in records if record.kind == "turn"]
    copies = [record for record in records if record.kind in COPIES]
    times = Counter((record.kind, record.name) for record in (*turns, *copies))
    yield Breach.LOST, "no accepted event is lost", expected.keys() - {record.name for record in turns}
    made = [record for record in records if record.kind != "summary"]
    strangers = {record.name for record in made if not lives.was_accepted(record.name)}
    yield Breach.PHANTOM, "nothing is stored that was not accepted", strangers
    ignored = {record.name for record in made if record.name in lives.alive and record.name not in expected}
    yield Breach.PHANTOM, "what is never to become memory does not", ignored
    gone = {record.name for record in made if lives.was_accepted(record.name) and record.name not in lives.alive}
    yield Breach.RESURRECTED, "nothing forgotten is in the store", gone
    yield Breach.DUPLICATE, "no event is stored twice", {name for (_, name), number in times.items() if number > 1}
    known = [record for record in (*turns, *copies) if record.name in expected]
    altered = {record.name for record in known if record.facts != expected[record.name].facts}
    yield Breach.OTHER, "text, tenant, user, session, role and source are as sent", altered
    moved = {record.name for record in turns if record.name in expected and record.seq != expected[record.name].seq}
    yield Breach.OTHER, "a stored turn has the position of its acceptance", moved
    yield Breach.OTHER, "every vector is that of its text", {record.id for record in records if not record.vector_fits}
    yield Breach.OTHER, "a long turn has all its pieces, and no other has any", find_torn(records)


def find_torn(records: Iterable[StoredRecord]) -> set[Name]:
    """Returns the events whose pieces are not those of their turn, each once."""
    expected: dict[Name, list[tuple[int, str]]] = {}
    found: defaultdict[Name, list[tuple[int, str]]] = defaultdict(list)
    for record in records:
        if record.kind == "turn":
            expected[record.name] = list(enumerate(record.pieces))
        if record.piece is not None:
            found[record.name].append((record.piece, record.facts.text_hash))
    return {name for name in expected.keys() | found.keys() if sorted(found[name]) != expected.get(name, [])}


def word_findings(lives: Lives, seen: Observation) -> Found:
    """Looks at the words themselves, wherever they lie and whatever the record around them says."""
    kept = (*seen.tails, *seen.streamed, *seen.lettered, *(seen.archived or ()))
    texts = [
        *((f"record {record.id}", record.facts.tenant, record.marks) for record in seen.records),
        *((f"{one.where} {one.name}", one.facts.tenant, one.marks) for one in kept),
    ]
    foreign = {f"{mark} in {where}" for where, tenant, marks in texts for mark in marks if mark.tenant != tenant}
    yield Breach.CROSSED, "no tenant has words of another", foreign
    dead = {f"{mark} in {where}" for where, _, marks in texts for mark in lives.dead_marks(marks)}
    yield Breach.RESURRECTED, "no words of what was forgotten are anywhere", dead
    unknown = {f"{mark} in {where}" for where, _, marks in texts for mark in marks if mark not in lives.known_marks}
    yield Breach.PHANTOM, "no words are anywhere that were not accepted", unknown


def accepted_findings(ledger: Ledger, lives: Lives, seen: Observation, planted: int) -> Found:
    yield Breach.OTHER, "every answer is right", ledger.misjudged
    yield (
        Breach.DUPLICATE,
        "an event has one place in the stream, and another only once it is forgotten",
        (lives.find_doubled()),
    )
    surplus = seen.entries - sum(1 for _ in lives.acceptances) - planted
    allowed = range(lives.count_hidden(ledger.uncertain) + 1)
    wrong = [] if surplus in allowed else [f"{surplus:+d} entries"]
    yield Breach.DUPLICATE if surplus > 0 else Breach.LOST, "each event is published once", wrong
    yield Breach.OTHER, "the positions of a session have no gap", find_uneven(ledger, lives)
    yield Breach.OTHER, "every receipt is complete", find_incomplete(lives, seen)
    strangers = {name for name in seen.receipts if not lives.was_accepted(name)}
    yield Breach.PHANTOM, "no receipt is of something that was not accepted", strangers


def find_uneven(ledger: Ledger, lives: Lives) -> set[tuple[str, str, str]]:
    """Returns the sessions whose positions are not 1, 2, 3 and so on.

    Where something was forgotten they may start anew and have gaps, but no two turns share one. A life that nobody
    was told of has its position, too.
    """
    touched = lives.find_touched()
    told: defaultdict[tuple[str, str, str], list[Acceptance]] = defaultdict(list)
    for one in lives.acceptances:
        told[one.facts.conversation].append(one)
    uneven = set()
    for conversation, said in told.items():
        living = sorted((one for one in said if lives.alive.get(one.name) is one), key=lambda one: one.seq)
        positions = [one.seq for one in living]
        # By the millisecond: two streams of a partition number their entries by themselves.
        rising = len(set(positions)) == len(positions) and is_rising([one.stream_id.ms for one in living])
        whole = positions == list(range(1, len(positions) + 1))
        if not rising or (conversation not in touched and not whole):
            uneven.add(conversation)
    return uneven


def is_rising(numbers: Sequence[int]) -> bool:
    return all(earlier <= later for earlier, later in pairwise(numbers))


def find_incomplete(lives: Lives, seen: Observation) -> set[Name]:
    """Returns living events whose receipt is not there, tells of an error, or lacks a stage or the right place."""
    bad = set()
    for name, one in lives.alive.items():
        receipt = seen.receipts.get(name, {})
        stages = {"accepted_at", "embedded_at" if one.facts.becomes_memory else "ignored"}
        if seen.is_gated and one.facts.becomes_memory:
            stages.add("promoted")
        place = (receipt.get("stream_id"), receipt.get("seq"))
        if "error" in receipt or not stages <= receipt.keys() or place != (str(one.stream_id), str(one.seq)):
            bad.add(name)
    return bad


def archive_findings(lives: Lives, planted: Planted, seen: Observation) -> Found:
    if seen.archived is None:
        return
    poison = {(p.subject.tenant, p.subject.event_id): p for p in planted.values() if p.subject}
    lines = {(line.name, line.stream_id): line for line in seen.archived}
    expected = {(name, one.stream_id): one for name, one in lives.alive.items()}
    expected_poison = {
        (name, p.stream_id) for name, p in poison.items() if p.subject and not lives.is_dead(p.subject, p.stream_id)
    }
    missing = (expected.keys() | expected_poison) - lines.keys()
    yield Breach.LOST, "every accepted event is archived", missing
    surplus = lines.keys() - expected.keys() - expected_poison
    strangers = {(name, place) for name, place in surplus if not lives.was_accepted(name) and name not in poison}
    yield Breach.PHANTOM, "nothing else is archived", strangers
    yield Breach.RESURRECTED, "nothing forgotten is archived", surplus - strangers
    altered = {place for place in expected.keys() & lines.keys() if lines[place].facts != expected[place].facts}
    moved = {place for place in expected.keys() & lines.keys() if lines[place].seq != expected[place].seq}
    yield Breach.OTHER, "archived events are as accepted", altered | moved
    yield Breach.OTHER, "the archive is whole", seen.damage


def in_order(one: Acceptance) -> tuple[int, int]:
    return one.stream_id.ms, one.seq


def tail_findings(lives: Lives, tails: list[Kept]) -> Found:
    told: defaultdict[tuple[str, str, str], list[Acceptance]] = defaultdict(list)
    for one in lives.acceptances:
        told[one.facts.conversation].append(one)
    newest = [one for said in told.values() for one in sorted(said, key=in_order)[-TAIL_TURNS:]]
    shown = Counter((one.name, one.seq, one.facts) for one in tails)
    living = {(one.name, one.seq, one.facts) for one in lives.alive.values()}
    wanted = {(one.name, one.seq, one.facts) for one in newest} & living
    yield Breach.LOST, "the newest turns of a session are in its tail", {name for name, *_ in wanted - shown.keys()}
    yield Breach.DUPLICATE, "no turn is in a tail twice", {name for (name, *_), times in shown.items() if times > 1}
    surplus = {name for name, *_ in shown.keys() - living}
    strangers = {name for name in surplus if not lives.was_accepted(name)}
    yield Breach.PHANTOM, "nothing is in a tail that was not accepted", strangers
    yield Breach.RESURRECTED, "nothing forgotten is in a tail", surplus - strangers


def dead_findings(lives: Lives, planted: Planted, letters: Sequence[Fields]) -> Found:
    def is_forgotten(poison: Poison) -> bool:
        return poison.subject is not None and lives.is_dead(poison.subject, poison.stream_id)

    names = {mark: {f"{mark} in {group}" for group in poison.kills_in} for mark, poison in planted.items()}
    expected = {name for mark, own in names.items() if not is_forgotten(planted[mark]) for name in own}
    forgotten = {name for mark, own in names.items() if is_forgotten(planted[mark]) for name in own}
    times = Counter(name_of(letter) for letter in letters)
    yield Breach.LOST, "every poison message is a dead letter", expected - times.keys()
    yield Breach.LOST, "nothing else is a dead letter", times.keys() - expected - forgotten
    yield Breach.RESURRECTED, "nothing forgotten is a dead letter", times.keys() & forgotten
    yield Breach.DUPLICATE, "no message is buried twice", {name for name, number in times.items() if number > 1}
    kept = [letter for letter in letters if name_of(letter) in expected]
    altered = {name_of(letter) for letter in kept if not planted[letter[MARK]].fields.items() <= letter.items()}
    yield Breach.OTHER, "dead letters keep the original", altered


def name_of(letter: Fields) -> str:
    return f"{letter.get(MARK, letter.get('dead_id'))} in {letter.get('dead_group')}"


def queue_findings(seen: Observation) -> Found:
    yield Breach.OTHER, "nothing is left unread", [f"{seen.unread} messages"] if seen.unread else []
    yield Breach.OTHER, "nothing is left unacknowledged", [f"{seen.pending} messages"] if seen.pending else []
    yield Breach.OTHER, "no job is left undone", [f"{seen.jobs} jobs"] if seen.jobs else []
    yield Breach.OTHER, "no job is given up", seen.given_up
    yield Breach.OTHER, "every key expires or is declared permanent", seen.immortal_keys
