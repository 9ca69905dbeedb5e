"""What is decided about a turn, given what was found."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.gatekeeper.gated_turn import MAX_MENTIONS, add_mentions, read_earlier_gating
from lithify.gatekeeper.neighbours import BatchMemory, NearMemory, repeated_scores
from lithify.gatekeeper.turn import StoredTurn
from lithify.gatekeeper.turn_gate import TurnGate, foreign_config, gate_config
from lithify.memory.gating.gate import LEARNED_CONFIG, PATTERN_CONFIG, GateConfig, GateDecision, blend, gate
from lithify.memory.gating.gate_profile import RECALL_GATE, SEED_GATE, NeighbourLimits
from lithify.memory.gating.worth import SHAPE, Worth
from tests.unit.gatekeeper.gate_parts import ANALYSER, LENGTHS, MERGE_AT, TEA, TRIP, memory_id, said, turn_record

ALWAYS = GateConfig(durable_admission="always")
BLANK = np.zeros(LENGTHS["l3"] + SHAPE)
CONVINCED = Worth("test", np.append(BLANK, 50.0))
INDIFFERENT = Worth("test", np.append(BLANK, -50.0))


def turn(event_id: str = "e1", text: str = TEA, ts: int = 1_000) -> StoredTurn:
    event = said(event_id, text, ts)
    return StoredTurn(turn_record(event), memory_id(event))


def near(score: float, text: str = TEA, *mentions: str) -> NearMemory:
    return NearMemory(f"{text} {score}", score, text, frozenset(mentions))


def test_the_nearest_memory_that_is_repeated_is_joined() -> None:
    turn_gate = TurnGate(ALWAYS, MERGE_AT, ANALYSER)
    other, same = near(0.99, TRIP), near(0.96)
    assert turn_gate.decide(turn(), [], [other, same]).joins == same.id
    assert turn_gate.decide(turn(), [], [other, near(0.94)]).joins is None


def test_a_turn_stays_with_the_memory_it_joined_once() -> None:
    joined = near(0.96, TEA, "e1")
    assert TurnGate(ALWAYS, MERGE_AT, ANALYSER).decide(turn(), [], [near(0.99), joined]).joins == joined.id


def test_a_refused_turn_joins_nothing() -> None:
    gated = TurnGate(PATTERN_CONFIG, MERGE_AT, ANALYSER).decide(turn(), [], [near(1.0)])
    assert not gated.decision.promote
    assert gated.memory_id is None


def test_copies_count_up_to_the_five_nearest_and_never_the_turn_itself() -> None:
    found = [near(0.9, TEA, "a", "e1"), near(0.5, TRIP, "b", "c", "d")]
    assert repeated_scores(found, "e1") == [0.9, 0.9, 0.5, 0.5, 0.5]


def test_the_batch_shows_a_user_only_their_own_memories() -> None:
    memory = BatchMemory()
    turn_gate = TurnGate(ALWAYS, MERGE_AT, ANALYSER)
    memory.add(turn_gate.decide(turn("e1"), [], []))
    stranger = said("e3", user="bob")
    assert [one.id for one in memory.find_nearest(turn("e2"), [])] == [turn("e1").memory_id]
    assert memory.find_nearest(StoredTurn(turn_record(stranger), memory_id(stranger)), []) == []


def test_a_stored_decision_is_read_as_it_was_made() -> None:
    decision = gate(TEA, [0.9], [0.5])
    assert GateDecision.from_payload(decision.as_payload(), promote=decision.promote) == decision
    assert GateDecision.from_payload({"text": TEA}, promote=False) is None


def test_the_turn_tells_more_than_its_memory() -> None:
    refused, kept = gate(TEA, [], [0.9]), gate(TEA, [], [])
    one = turn()
    own = replace(one.record, payload={**one.record.payload, **kept.as_payload()})
    told = replace(one.record, payload={**one.record.payload, **refused.as_payload()})
    adopted = read_earlier_gating(replace(one, own=own))
    recorded = read_earlier_gating(replace(one, record=told, own=own))
    assert (adopted and adopted.decision.score, adopted and adopted.memory_id) == (kept.score, one.memory_id)
    assert (recorded and recorded.decision.score, recorded and recorded.memory_id) == (refused.score, None)
    assert read_earlier_gating(one) is None


def test_the_oldest_mentions_make_room() -> None:
    known = [f"t{n}" for n in range(MAX_MENTIONS)]
    changes = add_mentions({"mentions": known, "ts": 5}, [turn("new", ts=9), turn("t3", ts=99)])
    assert changes == {"mentions": [*known[1:], "new"], "ts": 9}
    assert add_mentions({"mentions": known, "ts": 5}, [turn("t3")]) == {}


def test_a_learned_worth_stands_for_structure_and_action() -> None:
    for worth, wanted in ((CONVINCED, 1.0), (INDIFFERENT, 0.0)):
        decision = TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, worth).decide(turn(), [], []).decision
        assert (decision.d, decision.a) == pytest.approx((wanted, wanted), abs=1e-9)
        assert (decision.promote, decision.patterns) == (wanted == 1.0, "gp2+worth")
        assert blend(decision.t, decision.gconv, decision.gtech) == decision.score


def test_without_worth_nothing_learned_passes_however_new_and_repeated() -> None:
    for text in (TEA, "```\nfunc main() at main.go:12\ngit push 1a2b3c4d\nstruct import // x\n```"):
        decision = gate(text, [0.9] * 5, [], LEARNED_CONFIG, worth=0.0)
        assert not decision.promote


def test_what_was_not_learned_falls_back_to_the_first_patterns() -> None:
    assert gate_config(RECALL_GATE, CONVINCED) == LEARNED_CONFIG
    assert gate_config(RECALL_GATE, None) == PATTERN_CONFIG
    assert gate_config(SEED_GATE, CONVINCED) == PATTERN_CONFIG
    assert gate_config(replace(RECALL_GATE, evidence="gp2"), CONVINCED) == GateConfig(patterns="gp2")
    limits = NeighbourLimits(repeated=0.7)
    assert gate_config(replace(RECALL_GATE, neighbours=limits), CONVINCED) == replace(LEARNED_CONFIG, limits=limits)


def test_a_language_that_was_not_learned_is_judged_by_its_words() -> None:
    turn_gate = TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, INDIFFERENT, foreign=foreign_config(RECALL_GATE))
    fact = turn_gate.decide(turn(text="Ich heiße Ada und wohne in Bonn."), [], []).decision
    chatter = turn_gate.decide(turn(text="Danke, das war sehr nett!"), [], []).decision
    assert (fact.promote, fact.patterns) == (True, "gp2+words")
    assert (chatter.promote, chatter.patterns) == (False, "gp2+words")
    assert turn_gate.decide(turn(), [], []).decision.patterns == "gp2+worth"


def test_neighbours_do_not_count_in_a_language_that_was_not_learned() -> None:
    """A model of another language puts all such turns close together."""
    turn_gate = TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, INDIFFERENT, foreign=foreign_config(RECALL_GATE))
    one = turn(text="Ich heiße Ada und wohne in Bonn.")
    near = [NearMemory("m1", 0.97, "Ich bin Schreiner von Beruf.", frozenset())]
    assert turn_gate.decide(one, [0.97] * 5, near).decision == turn_gate.decide(one, [], []).decision


def test_a_short_text_that_is_hardly_english_is_read_in_the_languages_it_may_be_in() -> None:
    turn_gate = TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, INDIFFERENT, foreign=foreign_config(RECALL_GATE))
    for text, source in (("El servidor usa el puerto 8443.", "gp2+words"), ("server port 8443", "gp2+worth")):
        assert turn_gate.decide(turn(text=text), [], []).decision.patterns == source


def test_what_hears_the_words_says_so() -> None:
    listening = replace(CONVINCED, hears_words=True)
    assert TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, listening).decide(turn(), [], []).decision.patterns == (
        "gp2+worth+words"
    )


def test_a_language_that_was_learned_is_judged_by_what_was_learned() -> None:
    german = replace(INDIFFERENT, languages=frozenset({"en", "de"}))
    turn_gate = TurnGate(LEARNED_CONFIG, MERGE_AT, ANALYSER, german, foreign=foreign_config(RECALL_GATE))
    assert not turn_gate.decide(turn(text="Ich heiße Ada und wohne in Bonn."), [], []).decision.promote


def test_a_profile_of_patterns_judges_every_language_alike() -> None:
    assert foreign_config(SEED_GATE) is None
