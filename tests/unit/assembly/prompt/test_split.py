"""A split prompt: nothing but rules, instructions and the budget decide its stable part."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.assembly.prompt.answer import context_blocks
from lithify.assembly.prompt.context import Context, compose_context, plan_context
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.prompt.promises import broken_promises
from lithify.assembly.prompt.split import compose_stable, leave_to_fresh
from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.assembly.recall.instructions import distinct_instructions, sort_by_time
from lithify.authored import Rules
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord
from tests.unit.assembly.prompt.context_parts import (
    NOW,
    RECALLING,
    byte_tokenizer,
    candidate,
    ingredients,
    rule,
    turn,
)

COUNTERS = (ESTIMATOR, byte_tokenizer())


def instruction(number: int, text: str | None = None) -> Candidate:
    said = text or f"Always mention harbour number {number}."
    return candidate(f"g{number}", said, kind=Kind.GUIDANCE, source_turn=f"e{number}", ts=float(number))


def rules(*hard: str) -> Rules:
    return Rules(tuple(rule(f"h{n}", text) for n, text in enumerate(hard)), (rule("s", "You should be kind."),), 0)


def terms(tau: float, now_ms: int = NOW, counter: PromptCounter = ESTIMATOR) -> Terms:
    return Terms(tau, RECALLING, now_ms, counter)


def split(known: Rules, given: Ingredients, asked: Terms) -> tuple[Context, Context]:
    instructions = sort_by_time(one for one in given.candidates if one.kind is Kind.GUIDANCE)
    stable = compose_stable(known, instructions, asked)
    return stable, compose_context(plan_context(*leave_to_fresh(given, asked, stable)))


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@settings(max_examples=100, deadline=None)
@given(given_=ingredients(), other=ingredients(), tau=st.integers(0, 3000), later=st.integers(0, 10**11))
def test_neither_question_nor_talk_nor_time_changes_the_stable_part(
    counter: PromptCounter, given_: Ingredients, other: Ingredients, tau: int, later: int
) -> None:
    known = Rules(tuple(given_.hard), tuple(given_.soft), 0)
    instructions = [one for one in given_.candidates if one.kind is Kind.GUIDANCE]
    elsewhere = replace(
        other, candidates=[*instructions, *(c for c in other.candidates if c.kind is not Kind.GUIDANCE)]
    )
    first, fresh = split(known, given_, terms(tau, counter=counter))
    second, _ = split(known, elsewhere, terms(tau, NOW + later, counter))
    assert first.text == second.text
    assert broken_promises(first) == ()
    assert broken_promises(fresh) == ()
    if not first.reasons and not fresh.reasons:
        assert first.tokens + fresh.tokens <= tau


def test_the_newest_instructions_are_kept_and_the_oldest_shown_first() -> None:
    stable = compose_stable(rules("Never lie."), [instruction(n) for n in range(40)], terms(1000))
    [told] = [[entry.id for entry in b.entries] for b in context_blocks(stable) if b.name == "elevated_guidance"]
    assert 2 < len(told) < 40
    assert told == [f"g{n}" for n in range(40 - len(told), 40)]


def test_a_new_instruction_lengthens_what_was_there() -> None:
    before = compose_stable(rules("Never lie."), [instruction(1)], terms(2000)).text
    after = compose_stable(rules("Never lie."), [instruction(1), instruction(2)], terms(2000)).text
    assert after.startswith(before.removesuffix("</elevated_guidance>\n"))


def test_the_fresh_part_says_nothing_of_the_stable_one() -> None:
    advice = instruction(1)
    copy = candidate("copy", advice.text, source_turn=advice.source_turn)
    given_ = Ingredients("harbour", [turn("t1")], candidates=[advice, copy, candidate("fact", "the harbour is open")])
    stable, fresh = split(rules("Never lie."), given_, terms(2000))
    assert "harbour number 1" in stable.text
    assert [entry.id for block in context_blocks(fresh) for entry in block.entries] == ["t1", "fact"]


def test_rules_that_take_the_whole_budget_leave_nothing_to_say() -> None:
    known = rules(*(f"Never forget the harbour rule number {n}." for n in range(40)))
    given_ = Ingredients("harbour", [turn("t1")], candidates=[candidate("fact", "the harbour is open")])
    stable, fresh = split(known, given_, terms(100))
    assert all(one.text in stable.text for one in known.hard)
    assert fresh.text == ""


def test_an_instruction_that_was_repeated_stands_once_where_it_was_said_last() -> None:
    said = [(3, "Be brief."), (1, "Be  brief."), (2, "Be kind.")]
    memories = [MemoryRecord("t", "u", "guidance", "user", text, ts, event_id=f"e{ts}") for ts, text in said]
    found = distinct_instructions([Record(f"r{m.ts}", m.payload(), {}) for m in memories])
    assert [one.id for one in found] == ["r2", "r3"]


def test_what_rules_that_take_the_whole_budget_leave_out_is_told() -> None:
    given_ = Ingredients("harbour", turns=[turn("t1")], candidates=[candidate("c1", "The harbour is loud.")])
    stable, fresh = split(rules("Never lie about the harbour. " * 40), given_, terms(100))
    assert stable.is_over_budget
    assert fresh.text == ""
    assert fresh.reasons == ["1 of the newest turns without room", "1 of the memories without room"]
