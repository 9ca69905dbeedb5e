"""What is injected under a budget (spec 08)."""

from collections import Counter
from dataclasses import replace

import pytest

from lithify.memory.prompt.budget import Shortage, degraded_reasons, plan_budgets
from lithify.memory.prompt.composition import (
    Composition,
    Cut,
    Item,
    Limit,
    compose_fixed,
    entry_item,
    fill_composition,
    never_shorten,
    pack_parts,
    rule_item,
    used_overhead,
)
from lithify.memory.prompt.rendering import FRAMES, RECALLED, Line
from lithify.memory.prompt.tail import select_tail
from lithify.memory.ranking.profile import SEED, Profile
from lithify.memory.tokens import estimate_lines
from lithify.memory.turn import Turn

EXAMPLE = replace(SEED, tail_fraction=0.4)


ALTERNATING = [Turn(f"t{i}", float(i), "user" if i % 2 == 0 else "assistant", "x") for i in range(10)]


def priced(prefix: str, *costs: int) -> list[Item]:
    return [Item(f"{prefix}{i}", Line("", f"{prefix}{i}"), cost) for i, cost in enumerate(costs)]


def composed(
    tau: float,
    hard: list[Item],
    soft: list[Item],
    base: list[Item],
    recalled: list[Item],
    profile: Profile = SEED,
    guidance: list[Item] | None = None,
) -> Composition:
    overhead = used_overhead(FRAMES, estimate_lines, rules=bool(hard or soft), tail=bool(base), recalls=True)
    fixed = compose_fixed(tau + overhead, hard, soft, base, lambda *_: base, profile)
    return fill_composition(fixed, guidance or [], recalled)


@pytest.mark.parametrize(("profile", "tail_turns", "tail_cost", "left"), [(EXAMPLE, 6, 180, 110), (SEED, 4, 120, 170)])
def test_the_worked_example_of_the_budget(profile: Profile, tail_turns: int, tail_cost: int, left: int) -> None:
    """spec 08.9"""
    budgets = plan_budgets(500, 0, 120, 120, [40, 50, 70, 20], profile)
    assert (budgets.soft_limit, budgets.soft, budgets.soft_count) == (150, 90, 2)
    assert budgets.tail_limit == 290
    tail = select_tail(ALTERNATING, lambda _: 30.0, m=4, target=budgets.tail_target, hardcap=budgets.tail_limit)
    assert len(tail.recent) == tail_turns
    assert 30 * len(tail.recent) == tail_cost
    assert budgets.retrieval(tail_cost) == left
    assert budgets.guidance(tail_cost) == min(75, left)
    assert not budgets.is_degraded


@pytest.mark.parametrize(
    ("hard", "base", "shortages"),
    [
        (160, 0, [Shortage.HARD_OVER_RESERVE]),
        (600, 0, [Shortage.HARD_OVER_RESERVE, Shortage.HARD_OVER_BUDGET]),
        (150, 350, []),
    ],
)
def test_degraded_mode_keeps_rules_and_base_and_nothing_else(hard: int, base: int, shortages: list[Shortage]) -> None:
    """spec 08.10"""
    profile = replace(SEED, hard_fraction=0.3)
    rules, turns = priced("h", hard // 2, hard - hard // 2), priced("t", base)
    result = composed(500, rules, priced("s", 1), turns, priced("m", 1), profile, priced("e", 1))
    budgets = result.fixed.budgets
    assert [reason.shortage for reason in budgets.reasons] == shortages
    assert result.fixed.hard == tuple(rules)
    assert result.fixed.tail == (tuple(turns) if hard <= 500 else ())
    if shortages:
        assert (result.fixed.soft, result.guidance, result.recalled) == ((), (), ())
        assert {cut.limit for cut in result.cut} == {Limit.DEGRADED}
        # What exceeds the budget alone does not exceed it further by saying so.
        assert result.fixed.notice == (tuple(map(str, budgets.reasons)) if hard <= 500 else ())
    else:
        assert (len(result.fixed.soft), len(result.recalled)) == (0, 0)


def test_newest_turns_that_do_not_fit_are_cut_or_given_up_oldest_first() -> None:
    def halve(item: Item, room: float) -> Item | None:
        return replace(item, cost=int(room), is_excerpt=True)

    turns = priced("t", 50, 400, 20)
    frames = used_overhead(FRAMES, estimate_lines, rules=False, tail=True, recalls=True)
    fixed = compose_fixed(300 + frames, [], [], turns, lambda *_: [], SEED, shorten=halve)
    assert [(item.id, item.cost, item.is_excerpt) for item in fixed.tail] == [
        ("t0", 50, False),
        ("t1", 230, True),
        ("t2", 20, False),
    ]
    tight = compose_fixed(60 + frames, [], [], turns, lambda *_: [], SEED, shorten=halve)
    assert ([item.id for item in tight.tail], tight.missing_turns) == (["t1", "t2"], 1)
    none = compose_fixed(60 + frames, [], [], turns, lambda *_: [], SEED)
    assert ([item.id for item in none.tail], none.missing_turns) == (["t2"], 2)


def test_what_does_not_fit_becomes_an_excerpt_or_leaves_its_place_to_the_next() -> None:
    def shorten(item: Item, room: float) -> Item | None:
        return None if item.id == "m1" else replace(item, cost=int(room), is_excerpt=True)

    profile = replace(SEED, packing="excerpts")
    frames = used_overhead(FRAMES, estimate_lines, rules=False, tail=False, recalls=True)
    fixed = compose_fixed(400 + frames, [], [], [], lambda *_: [], profile)
    result = fill_composition(fixed, [], priced("m", 9000, 9000, 30, 120), profile, shorten)
    assert [(item.id, item.cost, item.is_excerpt) for item in result.recalled] == [
        ("m0", 100, True),
        ("m2", 30, False),
        ("m3", 120, False),  # nothing else wanted the room
    ]
    assert [cut.id for cut in result.cut] == ["m1"]


def test_a_short_memory_is_taken_whole_however_little_room_there_is() -> None:
    """Else the best answer would make way for worse ones, only because they are shorter."""
    profile = replace(SEED, packing="excerpts", whole_tokens=96)
    frames = used_overhead(FRAMES, estimate_lines, rules=False, tail=False, recalls=True)
    fixed = compose_fixed(118 + frames, [], [], [], lambda *_: [], profile)
    result = fill_composition(fixed, [], priced("m", 33, 20, 25), profile)
    assert [item.id for item in result.recalled] == ["m0", "m1", "m2"]


def test_what_does_not_fit_leaves_its_place_to_the_next() -> None:
    """spec 02.12"""
    assert [item.cost for item in pack_parts(priced("m", 12, 1, 2), 3, 3, never_shorten, 0)] == [1, 2]


def test_an_empty_world_gives_an_empty_prompt() -> None:
    """spec 08.11 (nothing)"""
    result = fill_composition(compose_fixed(0, [], [], [], lambda *_: [], SEED), [], priced("m", 1))
    assert result.blocks() == ()
    assert result.text == ""
    assert not result.fixed.budgets.is_degraded


def test_rules_and_tail_survive_when_nothing_is_left_for_recall() -> None:
    """spec 08.11 (no room)"""
    result = composed(150, priced("h", 50), [], priced("t", 100), priced("m", 1, 1), guidance=priced("e", 1))
    assert result.fixed.budgets.retrieval(100) == 0
    assert (result.guidance, result.recalled) == ((), ())
    assert [item.id for item in result.items] == ["h0", "t0"]
    assert [cut.limit for cut in result.cut] == [Limit.GUIDANCE, Limit.RETRIEVAL, Limit.RETRIEVAL]


def test_no_budget_at_all_is_degraded_once_there_is_a_rule() -> None:
    [reason] = plan_budgets(0, 0, 10, 0, [], SEED).reasons
    assert reason.shortage is Shortage.HARD_OVER_BUDGET
    assert str(reason) == "the hard rules alone need 10 tokens, the budget leaves 0"
    [reserve] = degraded_reasons(100, 50, 0.4)
    assert str(reserve) == "the hard rules need 50 tokens, their reserve is 40"


def test_guidance_takes_its_share_before_recall() -> None:
    guidance, recalled = priced("e", 10, 5, 1), priced("m", 30, 60, 1)
    result = composed(100, [], [], [], recalled, guidance=guidance)
    assert [item.id for item in result.guidance] == ["e0", "e1"]
    assert [item.id for item in result.recalled] == ["m0"]
    assert result.cut == (
        Cut("e2", 1, Limit.GUIDANCE),
        Cut("m1", 60, Limit.RETRIEVAL),
        Cut("m2", 1, Limit.RETRIEVAL),
    )


def test_access_counts_grow_once_for_what_was_injected() -> None:
    """spec 08.14"""
    counts: Counter[str] = Counter()
    for _ in range(3):
        result = composed(
            100, priced("h", 1), priced("s", 1), priced("t", 1), priced("m", 40, 90), guidance=priced("e", 5)
        )
        counts.update(result.used_ids)
    assert counts == {"e0": 3, "m0": 3}
    shared = Item("m0", Line("", "again"), 1)
    assert composed(100, [], [], [], priced("m", 1), guidance=[shared]).used_ids == ("m0",)


def test_costs_come_from_what_is_injected() -> None:
    rule = rule_item("r", "Be <kind>.\nAlways.")
    entry = entry_item("m", "<b>", "2026-11-13 user", RECALLED, "t1")
    assert rule.line == Line("", "Be <kind>.\n  Always.")
    assert entry.line == Line("2026-11-13 user", "&lt;b&gt;")
    assert (rule.text, entry.text, entry.source_turn) == ("Be <kind>.\nAlways.", "<b>", "t1")
    assert rule_item("r", "x", len).cost == len("[A99] x\n")
    assert entry_item("m", "x", "2026-11-13 user", RECALLED, count=len).cost == len("[M99 2026-11-13 user] x\n")
