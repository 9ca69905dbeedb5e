"""The judge of the chaos test must itself be able to find fault, with each promise."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.faults import Kind, schedule
from tests.chaos.ledger import Ledger, Turn, facts_of
from tests.chaos.observation import Archived, Observation, Point
from tests.chaos.plan import parcels
from tests.chaos.poison import Poison
from tests.chaos.verdict import judge

TURNS = (
    Turn("e1", "u", "s", "user", "one"),
    Turn("e2", "u", "s", "assistant", "two"),
    Turn("e3", "u", "s", "tool", "never a memory"),
)
POISON = {"0": Poison({"event": "not JSON", "poison": "0"}), "1": Poison({"event": "x", "poison": "1"}, "poison 1")}
# The archive keeps what only the embedding worker cannot digest.
DIGESTED = Archived("poison 1", facts_of(Turn("poison 1", "u", "s", "narrator", "bad")), ("5-0", 0))


def ledger() -> Ledger:
    kept = Ledger()
    for place, turn in enumerate(TURNS, 1):
        result = {"event_id": turn.event_id, "status": "accepted", "stream_id": f"{place}-0", "seq": place}
        kept.answer([turn], [result])
    return kept


def receipt(place: int, stage: str) -> dict[str, str]:
    return {"stream_id": f"{place}-0", "seq": str(place), "accepted_at": "1", stage: "2"}


def letter(mark: str, group: str) -> dict[str, str]:
    return {**POISON[mark].fields, "dead_group": group, "dead_reason": "bad"}


def faultless() -> Observation:
    return Observation(
        points=[Point(turn.event_id, facts_of(turn), seq, True) for seq, turn in enumerate(TURNS[:2], 1)],
        receipts={"e1": receipt(1, "embedded_at"), "e2": receipt(2, "embedded_at"), "e3": receipt(3, "ignored")},
        archived=[*(Archived(t.event_id, facts_of(t), (f"{n}-0", n)) for n, t in enumerate(TURNS, 1)), DIGESTED],
        damage=[],
        letters=[letter("0", "embed"), letter("0", "archive"), letter("1", "embed")],
        entries=5,
        trimmed=0,
        unread=0,
        pending=0,
        immortal_keys=[],
    )


def broken(kept: Ledger, seen: Observation) -> list[str]:
    return [finding.promise for finding in judge(kept, POISON, seen) if finding.broken_by]


def test_a_faultless_run_breaks_no_promise() -> None:
    assert broken(ledger(), faultless()) == []


FIRST, SECOND = faultless().points
STRANGER = replace(FIRST, event_id="never sent")
LETTER, *LETTERS = faultless().letters
LINE, *LINES = faultless().archived or []

HONEST = {"event": "an honest turn", "dead_id": "5-0", "dead_group": "embed"}

TAMPERED: dict[str, Observation] = {
    "no accepted event is lost": replace(faultless(), points=[FIRST]),
    "nothing is stored that was not accepted": replace(
        faultless(), points=[FIRST, SECOND, replace(FIRST, event_id="x")]
    ),
    "no event is stored twice": replace(faultless(), points=[FIRST, SECOND, SECOND]),
    "text, tenant, user, session and role are as sent": replace(
        faultless(), points=[FIRST, replace(SECOND, facts=replace(SECOND.facts, tenant="other"))]
    ),
    "a long turn has all its pieces, and no other has any": replace(
        faultless(), points=[replace(FIRST, pieces=("a", "b")), SECOND, replace(FIRST, piece=0)]
    ),
    "every vector is that of its text": replace(faultless(), points=[FIRST, replace(SECOND, vector_fits=False)]),
    "each event is published once": replace(faultless(), entries=6),
    "every receipt is complete": replace(faultless(), receipts=faultless().receipts | {"e2": receipt(2, "error")}),
    "every accepted event is archived": replace(faultless(), archived=LINES),
    "nothing else is archived": replace(faultless(), archived=[LINE, *LINES, replace(LINE, event_id="never sent")]),
    "archived events are as accepted": replace(faultless(), archived=[replace(LINE, place=("9-0", 1)), *LINES]),
    "the archive is whole": replace(faultless(), damage=["a0.jsonl at byte 0"]),
    "every poison message is a dead letter": replace(faultless(), letters=LETTERS),
    "nothing else is a dead letter": replace(faultless(), letters=[LETTER, *LETTERS, HONEST]),
    "no message is buried twice": replace(faultless(), letters=[LETTER, LETTER, *LETTERS]),
    "dead letters keep the original": replace(faultless(), letters=[{**LETTER, "event": "other"}, *LETTERS]),
    "nothing is left unread": replace(faultless(), unread=1),
    "nothing is left unacknowledged": replace(faultless(), pending=1),
    "every key expires or is declared permanent": replace(faultless(), immortal_keys=["lithify:leak"]),
}


@pytest.mark.parametrize("promise", TAMPERED)
def test_a_broken_promise_is_found(promise: str) -> None:
    assert broken(ledger(), TAMPERED[promise]) == [promise]


def accept_again_elsewhere(kept: Ledger) -> None:
    kept.answer([TURNS[0]], [{"event_id": "e1", "status": "accepted", "stream_id": "9-0", "seq": 4}])


def refuse_an_honest_turn(kept: Ledger) -> None:
    kept.answer([TURNS[0]], [{"event_id": None, "status": "HTTP 422"}])


def let_a_forgery_pass(kept: Ledger) -> None:
    kept.refuse(TURNS[0], "duplicate")


@pytest.mark.parametrize(
    ("misdeed", "promise"),
    [
        (accept_again_elsewhere, "an event keeps its one place in the stream"),
        (refuse_an_honest_turn, "every answer of the gateway is right"),
        (let_a_forgery_pass, "every answer of the gateway is right"),
    ],
)
def test_a_wrong_answer_of_the_gateway_is_found(misdeed: Callable[[Ledger], None], promise: str) -> None:
    kept = ledger()
    misdeed(kept)
    assert promise in broken(kept, faultless())


def test_a_gap_in_a_session_is_found() -> None:
    kept = ledger()
    kept.places["e3"] = {("3-0", 4)}
    assert "the positions of a session have no gap" in broken(kept, faultless())


def test_the_seed_decides_load_and_faults() -> None:
    assert list(parcels(7, 0, 500, 10)) == list(parcels(7, 0, 500, 10)) != list(parcels(8, 0, 500, 10))
    assert schedule(7, 60) == schedule(7, 60) != schedule(8, 60)


def test_every_kind_of_fault_strikes_even_in_a_short_run() -> None:
    assert {fault.kind for fault in schedule(1, 5)} == set(Kind)


def test_the_plan_sends_exactly_the_turns_asked_for_each_under_its_own_id() -> None:
    turns = [turn for parcel in parcels(1, 0, 1_000, 10) for turn in parcel.turns]
    assert len({turn.event_id for turn in turns}) == len(turns) == 1_000
