"""The judge of the chaos test must itself be able to find fault, with each promise, and call it by its name."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from lithify.streams.progress import StreamId
from tests.chaos.faults import Kind, schedule
from tests.chaos.forgetting import Erasure, Subject, Target, TargetKind, wishes
from tests.chaos.ledger import TENANTS, Facts, Forgetting, Ledger, Mark, Name, Turn, facts_of, find_marks
from tests.chaos.observation import Kept, Observation, StoredRecord
from tests.chaos.plan import Load, forge, parcels, revive
from tests.chaos.poison import Poison
from tests.chaos.verdict import judge
from tests.chaos.verdict_words import Breach

# What acme and zeta call e1 are two things; f1 and f2 were said by a user who is forgotten, and f1 is said again.
ONE = Turn("acme", "e1", "u", "s", "user", "acme:1-0-1-1 one")
TWO = Turn("acme", "e2", "u", "s", "assistant", "acme:1-0-2-1 two")
TOOL = Turn("acme", "e3", "u", "s", "tool", "acme:1-0-3-1 never a memory")
OTHER = Turn("zeta", "e1", "u", "s", "user", "zeta:1-0-1-1 something else")
FIRST_LIFE = Turn("acme", "f1", "v", "s", "user", "acme:1-0-4-1 said first", "mail/1")
GONE = Turn("acme", "f2", "v", "s", "user", "acme:1-0-5-1 said once")
AGAIN = revive(FIRST_LIFE)
LIVING = {"1-0": (ONE, 1), "2-0": (TWO, 2), "3-0": (TOOL, 3), "4-0": (OTHER, 1), "8-0": (AGAIN, 3)}
DEAD = {"5-0": (FIRST_LIFE, 1), "5-1": (GONE, 2)}

FORGOTTEN_USER = Target("acme", TargetKind.USER, "v")
ERASURE = Erasure("forget-1", (FORGOTTEN_USER,), before_ms=6)

ANGRY = Subject("acme", "poison 1", "u", "s")
LETHE = Subject("acme", "poison 2", "v", "s")
POISON = {
    "0": Poison({"event": "not JSON", "poison": "0"}, None, StreamId(9, 0)),
    "1": Poison({"event": "x", "poison": "1"}, ANGRY, StreamId(9, 1)),
    "2": Poison({"event": "y", "poison": "2"}, LETHE, StreamId(5, 2)),
}


def make_ledger() -> Ledger:
    kept = Ledger()
    for stream_id, (turn, seq) in (LIVING | DEAD).items():
        result = {"event_id": turn.event_id, "status": "accepted", "stream_id": stream_id, "seq": seq}
        moment = float(StreamId.parse(stream_id).ms)
        kept.answer([turn], [result], moment, moment)
    kept.forgettings.append(Forgetting(FORGOTTEN_USER, "forget-1", sent_at=6.0, told_at=7.0))
    return kept


def make_receipt(stream_id: str, turn: Turn, seq: int) -> dict[str, str]:
    stages = {"ignored": "2"} if turn is TOOL else {"embedded_at": "2", "promoted": "0"}
    return {"stream_id": stream_id, "seq": str(seq), "accepted_at": "1", **stages}


def make_letter(mark: str, group: str) -> dict[str, str]:
    return {**POISON[mark].fields, "dead_group": group, "dead_reason": "bad"}


def make_kept(where: str, turn: Turn, seq: int, stream_id: str | None = None) -> Kept:
    place = StreamId.parse(stream_id) if stream_id else None
    return Kept(where, turn.name, facts_of(turn), find_marks(turn.text), seq, place)


def make_record(turn: Turn, seq: int, kind: str = "turn") -> StoredRecord:
    marks = find_marks(turn.text)
    return StoredRecord(f"{kind} {turn.name}", kind, turn.name, facts_of(turn), marks, seq)


SUMMARY = StoredRecord(
    "summary", "summary", ("acme", ""), Facts("acme", "u", "s", "", "hash"), source_ids=("e1",), marks=frozenset()
)
RETIRED = replace(make_record(ONE, 1), active=False, compacted_into="summary")
KEPT_MEMORY = replace(make_record(ONE, 1, "memory"), mentions=("e2",))
RECORDS = [RETIRED, KEPT_MEMORY, make_record(TWO, 2), make_record(OTHER, 1), make_record(AGAIN, 3), SUMMARY]
# The archive keeps what only the embedding worker cannot digest.
DIGESTED = Kept(
    "archive", ("acme", "poison 1"), Facts("acme", "u", "s", "narrator", ""), frozenset(), 1, StreamId(9, 1)
)
ARCHIVED = [*(make_kept("archive", turn, seq, stream_id) for stream_id, (turn, seq) in LIVING.items()), DIGESTED]
TAILS = [make_kept("tail", turn, seq) for turn, seq in LIVING.values()]
RECEIPTS: dict[Name, Any] = {turn.name: make_receipt(where, turn, seq) for where, (turn, seq) in LIVING.items()}
LETTERS = [make_letter("0", "embed"), make_letter("0", "archive"), make_letter("1", "embed")]
LATEST = make_kept("turns", AGAIN, 3, "8-0")
PASSED_ON = make_kept("stored", AGAIN, 3)

FAULTLESS = Observation(
    records=RECORDS,
    receipts=RECEIPTS,
    archived=ARCHIVED,
    damage=[],
    tails=TAILS,
    streamed=[LATEST, PASSED_ON],
    letters=LETTERS,
    lettered=[],
    erasures=[ERASURE],
    entries=len(LIVING) + len(DEAD) + len(POISON),
    trimmed=0,
    unread=0,
    pending=0,
    jobs=0,
    given_up=[],
    immortal_keys=[],
)


def find_broken(kept: Ledger, seen: Observation) -> dict[str, Breach]:
    return {finding.promise: finding.breach for finding in judge(kept, POISON, seen) if finding.broken_by}


def test_a_faultless_run_breaks_no_promise() -> None:
    assert find_broken(make_ledger(), FAULTLESS) == {}


def with_records(*more: StoredRecord) -> Observation:
    return replace(FAULTLESS, records=[*RECORDS, *more])


def without(record: StoredRecord) -> list[StoredRecord]:
    return [one for one in RECORDS if one is not record]


def with_instead(old: StoredRecord, new: StoredRecord) -> Observation:
    return replace(FAULTLESS, records=[*without(old), new])


def tampered() -> Iterator[tuple[Breach, str, Observation]]:
    stranger = make_record(replace(ONE, event_id="never sent"), 9)
    yield Breach.LOST, "no accepted event is lost", replace(FAULTLESS, records=without(RECORDS[3]))
    yield Breach.PHANTOM, "nothing is stored that was not accepted", with_records(stranger)
    yield Breach.PHANTOM, "what is never to become memory does not", with_records(make_record(TOOL, 3))
    yield Breach.RESURRECTED, "nothing forgotten is in the store", with_records(make_record(GONE, 2))
    yield Breach.RESURRECTED, "nothing forgotten is in the store", with_records(make_record(GONE, 2, "guidance"))
    yield Breach.DUPLICATE, "no event is stored twice", with_records(make_record(OTHER, 1))
    yield Breach.DUPLICATE, "no event is stored twice", with_records(KEPT_MEMORY)
    altered = replace(RECORDS[2], facts=replace(RECORDS[2].facts, user="w"))
    promise = "text, tenant, user, session, role and source are as sent"
    yield Breach.OTHER, promise, with_instead(RECORDS[2], altered)
    old_life = make_record(FIRST_LIFE, 3)
    yield Breach.OTHER, promise, with_instead(RECORDS[4], old_life)
    moved = replace(RECORDS[4], seq=1)
    yield Breach.OTHER, "a stored turn has the position of its acceptance", with_instead(RECORDS[4], moved)
    unfit = replace(RECORDS[2], vector_fits=False)
    yield Breach.OTHER, "every vector is that of its text", with_instead(RECORDS[2], unfit)
    long = replace(RECORDS[2], pieces=("a", "b"))
    yield Breach.OTHER, "a long turn has all its pieces, and no other has any", with_instead(RECORDS[2], long)
    piece = replace(RECORDS[2], kind="piece", piece=0)
    yield Breach.OTHER, "a long turn has all its pieces, and no other has any", with_records(piece)
    yield from tampered_words()
    yield from tampered_places()
    yield from tampered_compaction()
    yield from tampered_forgetting()
    yield from tampered_queues()


def tampered_words() -> Iterator[tuple[Breach, str, Observation]]:
    foreign = replace(SUMMARY, marks=frozenset({Mark("zeta", "1-0-1", 1)}))
    yield Breach.CROSSED, "no tenant has words of another", with_instead(SUMMARY, foreign)
    crossed = replace(TAILS[0], marks=frozenset({Mark("zeta", "1-0-1", 1)}))
    yield Breach.CROSSED, "no tenant has words of another", replace(FAULTLESS, tails=[*TAILS, crossed])
    promise = "no words of what was forgotten are anywhere"
    quoting = replace(SUMMARY, marks=find_marks(GONE.text))
    yield Breach.RESURRECTED, promise, with_instead(SUMMARY, quoting)
    # The event lives again, the words of its first life do not.
    earlier = replace(SUMMARY, marks=find_marks(FIRST_LIFE.text))
    yield Breach.RESURRECTED, promise, with_instead(SUMMARY, earlier)
    forged = replace(RECORDS[2], marks=find_marks(forge(TWO).text))
    yield Breach.PHANTOM, "no words are anywhere that were not accepted", with_instead(RECORDS[2], forged)


def tampered_places() -> Iterator[tuple[Breach, str, Observation]]:
    yield Breach.DUPLICATE, "each event is published once", replace(FAULTLESS, entries=FAULTLESS.entries + 1)
    yield Breach.LOST, "each event is published once", replace(FAULTLESS, entries=FAULTLESS.entries - 1)
    failed = RECEIPTS | {TWO.name: RECEIPTS[TWO.name] | {"error": "gave up"}}
    yield Breach.OTHER, "every receipt is complete", replace(FAULTLESS, receipts=failed)
    ungated = RECEIPTS | {TWO.name: {k: v for k, v in RECEIPTS[TWO.name].items() if k != "promoted"}}
    yield Breach.OTHER, "every receipt is complete", replace(FAULTLESS, receipts=ungated)
    stale = RECEIPTS | {AGAIN.name: make_receipt("5-0", FIRST_LIFE, 1)}
    yield Breach.OTHER, "every receipt is complete", replace(FAULTLESS, receipts=stale)
    strange = RECEIPTS | {("zeta", "e2"): RECEIPTS[TWO.name]}
    yield Breach.PHANTOM, "no receipt is of something that was not accepted", replace(FAULTLESS, receipts=strange)
    told = RECEIPTS | {GONE.name: make_receipt("5-1", GONE, 2)}
    yield Breach.RESURRECTED, "no receipt tells of what was forgotten", replace(FAULTLESS, receipts=told)
    yield Breach.LOST, "every accepted event is archived", replace(FAULTLESS, archived=ARCHIVED[1:])
    stranger = replace(ARCHIVED[0], name=("acme", "never sent"))
    yield Breach.PHANTOM, "nothing else is archived", replace(FAULTLESS, archived=[*ARCHIVED, stranger])
    for turn, place in ((GONE, "5-1"), (FIRST_LIFE, "5-0")):
        risen = make_kept("archive", turn, 1, place)
        yield Breach.RESURRECTED, "nothing forgotten is archived", replace(FAULTLESS, archived=[*ARCHIVED, risen])
    bitter = replace(DIGESTED, name=("acme", "poison 2"), stream_id=StreamId(5, 2))
    yield Breach.RESURRECTED, "nothing forgotten is archived", replace(FAULTLESS, archived=[*ARCHIVED, bitter])
    shifted = [replace(ARCHIVED[0], seq=9), *ARCHIVED[1:]]
    yield Breach.OTHER, "archived events are as accepted", replace(FAULTLESS, archived=shifted)
    yield Breach.OTHER, "the archive is whole", replace(FAULTLESS, damage=["a0.jsonl at byte 0"])
    yield Breach.LOST, "the newest turns of a session are in its tail", replace(FAULTLESS, tails=TAILS[1:])
    yield Breach.DUPLICATE, "no turn is in a tail twice", replace(FAULTLESS, tails=[*TAILS, TAILS[0]])
    unknown = replace(TAILS[0], name=("acme", "never sent"))
    yield Breach.PHANTOM, "nothing is in a tail that was not accepted", replace(FAULTLESS, tails=[*TAILS, unknown])
    shown = make_kept("tail", FIRST_LIFE, 1)
    yield Breach.RESURRECTED, "nothing forgotten is in a tail", replace(FAULTLESS, tails=[*TAILS, shown])


def tampered_compaction() -> Iterator[tuple[Breach, str, Observation]]:
    yield (
        Breach.LOST,
        "every turn that was put away is behind its summary",
        replace(FAULTLESS, records=without(SUMMARY)),
    )
    elsewhere = replace(SUMMARY, source_ids=("e2",))
    yield Breach.LOST, "every turn that was put away is behind its summary", with_instead(SUMMARY, elsewhere)
    yield Breach.DUPLICATE, "no turn is summarised twice", with_records(replace(SUMMARY, id="second"))
    woken = replace(RETIRED, active=True, compacted_into=None)
    yield Breach.DUPLICATE, "no turn stands beside its summary", with_instead(RETIRED, woken)
    risen = replace(SUMMARY, id="second", source_ids=("f2",), facts=facts_of(GONE))
    yield Breach.RESURRECTED, "no summary covers what was forgotten", with_records(risen)
    invented = replace(SUMMARY, id="second", source_ids=("never sent",))
    yield Breach.PHANTOM, "no summary covers what was not accepted", with_records(invented)
    mixed = replace(SUMMARY, id="second", source_ids=("f1",))
    yield Breach.CROSSED, "a summary covers turns of its own session", with_records(mixed)


def tampered_forgetting() -> Iterator[tuple[Breach, str, Observation]]:
    unfinished = replace(ERASURE, status="started", verified=False)
    yield Breach.OTHER, "every forgetting ends, verified", replace(FAULTLESS, erasures=[unfinished])
    yield Breach.OTHER, "every forgetting ends, verified", replace(FAULTLESS, erasures=[])
    too_much = replace(ERASURE, job_id="forget-2", targets=(Target("zeta", TargetKind.USER, "v"),))
    yield Breach.LOST, "nobody forgets what was not asked for", replace(FAULTLESS, erasures=[ERASURE, too_much])
    promise = "a forgetting takes what was accepted before it was asked for"
    yield Breach.RESURRECTED, promise, replace(FAULTLESS, erasures=[replace(ERASURE, before_ms=4)])
    promise = "a forgetting leaves what is sent after its answer"
    yield Breach.LOST, promise, replace(FAULTLESS, erasures=[replace(ERASURE, before_ms=8)])
    for left in (make_kept("turns", FIRST_LIFE, 1, "5-0"), make_kept("stored", GONE, 2)):
        yield Breach.RESURRECTED, "nothing forgotten is in a stream", replace(FAULTLESS, streamed=[LATEST, left])
    naming = replace(KEPT_MEMORY, mentions=("f2",))
    yield Breach.RESURRECTED, "no memory names what was forgotten", with_instead(KEPT_MEMORY, naming)


def tampered_queues() -> Iterator[tuple[Breach, str, Observation]]:
    honest = {"event": "an honest turn", "dead_id": "5-0", "dead_group": "embed"}
    yield Breach.LOST, "every poison message is a dead letter", replace(FAULTLESS, letters=LETTERS[1:])
    yield Breach.LOST, "nothing else is a dead letter", replace(FAULTLESS, letters=[*LETTERS, honest])
    risen = [*LETTERS, make_letter("2", "embed")]
    yield Breach.RESURRECTED, "nothing forgotten is a dead letter", replace(FAULTLESS, letters=risen)
    yield Breach.DUPLICATE, "no message is buried twice", replace(FAULTLESS, letters=[LETTERS[0], *LETTERS])
    changed = [{**LETTERS[0], "event": "other"}, *LETTERS[1:]]
    yield Breach.OTHER, "dead letters keep the original", replace(FAULTLESS, letters=changed)
    yield Breach.OTHER, "nothing is left unread", replace(FAULTLESS, unread=1)
    yield Breach.OTHER, "nothing is left unacknowledged", replace(FAULTLESS, pending=1)
    yield Breach.OTHER, "no job is left undone", replace(FAULTLESS, jobs=1)
    yield Breach.OTHER, "no job is given up", replace(FAULTLESS, given_up=["compact_session-1"])
    yield Breach.OTHER, "every key expires or is declared permanent", replace(FAULTLESS, immortal_keys=["lithify:leak"])


@pytest.mark.parametrize(("breach", "promise", "seen"), [pytest.param(*case, id=case[1]) for case in tampered()])
def test_a_broken_promise_is_found_and_named(breach: Breach, promise: str, seen: Observation) -> None:
    assert find_broken(make_ledger(), seen).get(promise) is breach


def accept_again_elsewhere(kept: Ledger) -> None:
    kept.answer([ONE], [{"event_id": "e1", "status": "accepted", "stream_id": "9-9", "seq": 4}])


def let_a_forgery_pass(kept: Ledger) -> None:
    kept.refuse(forge(ONE), {"event_id": "e1", "status": "accepted", "stream_id": "9-9", "seq": 4})


def refuse_an_honest_turn(kept: Ledger) -> None:
    kept.answer([ONE], [{"event_id": None, "status": "HTTP 422"}])


def call_a_forgery_a_duplicate(kept: Ledger) -> None:
    kept.refuse(forge(ONE), {"event_id": "e1", "status": "duplicate", "stream_id": "1-0", "seq": 1})


def name_another_position(kept: Ledger) -> None:
    kept.answer([ONE], [{"event_id": "e1", "status": "duplicate", "stream_id": "1-0", "seq": 7}])


def skip_a_position(kept: Ledger) -> None:
    [(stream_id, life)] = kept.lives[OTHER.name].items()
    kept.lives[OTHER.name][stream_id] = replace(life, seq=2)


def answer_across(kept: Ledger) -> None:
    kept.crossed_answers.append("zeta:1-0-1-1 in an answer to acme")


def answer_with_the_forgotten(kept: Ledger) -> None:
    kept.recalled_answers.append("f2")


ONE_PLACE = "an event has one place in the stream, and another only once it is forgotten"
MISDEEDS: list[tuple[Callable[[Ledger], None], Breach, str]] = [
    (accept_again_elsewhere, Breach.DUPLICATE, ONE_PLACE),
    (let_a_forgery_pass, Breach.DUPLICATE, ONE_PLACE),
    (refuse_an_honest_turn, Breach.OTHER, "every answer is right"),
    (call_a_forgery_a_duplicate, Breach.OTHER, "every answer is right"),
    (name_another_position, Breach.OTHER, "every answer is right"),
    (skip_a_position, Breach.OTHER, "the positions of a session have no gap"),
    (answer_across, Breach.CROSSED, "no answer tells of another tenant"),
    (answer_with_the_forgotten, Breach.RESURRECTED, "no answer tells of what was forgotten"),
]


@pytest.mark.parametrize(("misdeed", "breach", "promise"), MISDEEDS)
def test_a_wrong_answer_is_found(misdeed: Callable[[Ledger], None], breach: Breach, promise: str) -> None:
    kept = make_ledger()
    misdeed(kept)
    assert find_broken(kept, FAULTLESS).get(promise) is breach


def test_every_promise_can_be_broken() -> None:
    promises = {finding.promise for finding in judge(make_ledger(), POISON, FAULTLESS)}
    assert promises == {promise for _, promise, _ in tampered()} | {promise for *_, promise in MISDEEDS}


def test_a_request_that_was_given_up_may_arrive_after_the_forgetting() -> None:
    """Only if it was given up: nobody else may bring back a forgotten event."""
    late = make_kept("archive", GONE, 4, "7-0")
    arrived = replace(
        FAULTLESS,
        archived=[*ARCHIVED, late],
        records=[*RECORDS, make_record(GONE, 4)],
        receipts=RECEIPTS | {GONE.name: make_receipt("7-0", GONE, 4)},
        tails=[*TAILS, make_kept("tail", GONE, 4)],
        entries=FAULTLESS.entries + 1,
    )
    kept = make_ledger()
    assert Breach.RESURRECTED in find_broken(kept, arrived).values()
    kept.uncertain.add(GONE.name)
    # It came before AGAIN, so its position may not be higher.
    assert find_broken(kept, arrived) == {"the positions of a session have no gap": Breach.OTHER}


def test_a_life_that_nobody_was_told_of_may_have_been_forgotten() -> None:
    kept = make_ledger()
    kept.uncertain.add(GONE.name)
    assert find_broken(kept, replace(FAULTLESS, entries=FAULTLESS.entries + 1)) == {}


def test_the_seed_decides_load_faults_and_wishes() -> None:
    seven, eight = Load(7, 500, 60), Load(8, 500, 60)
    assert list(parcels(seven, 0, 500)) == list(parcels(seven, 0, 500)) != list(parcels(eight, 0, 500))
    assert schedule(7, 60) == schedule(7, 60) != schedule(8, 60)
    assert wishes(7, 60) == wishes(7, 60) != wishes(8, 60)


def test_every_kind_of_fault_and_wish_comes_even_in_a_short_run() -> None:
    assert {fault.kind for fault in schedule(1, 5)} == set(Kind)
    assert {(wish.kind, wish.number % len(TENANTS)) for wish in wishes(1, 5)} == {
        (kind, tenant) for kind in TargetKind for tenant in range(len(TENANTS))
    }


def test_the_plan_sends_exactly_the_turns_asked_for_each_under_its_own_id() -> None:
    turns = [turn for parcel in parcels(Load(1, 1_000, 10), 0, 1_000) for turn in parcel.turns]
    assert len({turn.event_id for turn in turns}) == len(turns) == 1_000


def test_two_tenants_use_the_same_names_for_different_things() -> None:
    load = Load(1, 1_000, 10)
    acme, zeta = ({turn.event_id: turn for p in parcels(load, n, 500) for turn in p.turns} for n in (0, 1))
    assert acme.keys() == zeta.keys()
    assert {turn.user for turn in acme.values()} == {turn.user for turn in zeta.values()}
    assert {turn.tenant for turn in (*acme.values(), *zeta.values())} == set(TENANTS)
    assert not {turn.text for turn in acme.values()} & {turn.text for turn in zeta.values()}
