"""The recent tail: worked cases and laws of the selector."""

import math
from collections.abc import Sequence
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.prompt.tail import Tail, TailPolicy, select_tail
from lithify.memory.turn import Turn, bundle_start


def turn(i: int, role: str = "note", cost: float = 30.0, bundle_id: str = "") -> Turn:
    """The text carries the cost, so that a cost function needs no table."""
    return Turn(f"t{i:04}", float(i), role, str(cost), bundle_id=bundle_id)


def price(item: Turn) -> float:
    return float(item.text)


def alternating(n: int, cost: float = 30.0) -> list[Turn]:
    return [turn(i, ("user", "assistant")[i % 2], cost) for i in range(n)]


def total(turns: Sequence[Turn]) -> float:
    return math.fsum(map(price, turns))


def test_tail_closes_the_bundle_of_its_base() -> None:
    """spec 07.1"""
    turns = alternating(6)
    tail = select_tail(turns, price, m=3, target=128, hardcap=1000)
    assert tail == Tail(tuple(turns[:2]), tuple(turns[3:]), tuple(turns[2:]), bundle_split=False)
    assert total(tail.recent) == 120


def test_bundle_beats_target() -> None:
    """spec 07.2"""
    tail = select_tail(alternating(6), price, m=3, target=90, hardcap=1000)
    assert (len(tail.older), tail.bundle_split) == (2, False)


def test_hardcap_splits_a_bundle_and_says_so() -> None:
    """spec 07.2"""
    tail = select_tail(alternating(6), price, m=3, target=90, hardcap=100)
    assert (len(tail.older), total(tail.recent), tail.bundle_split) == (3, 90, True)


def test_tail_grows_to_target_but_not_over_it() -> None:
    """spec 07.3"""
    assert len(select_tail(alternating(10), price, m=4, target=128).older) == 6
    assert len(select_tail(alternating(10), price, m=4, target=200, hardcap=290).older) == 4


def test_base_is_kept_although_over_target() -> None:
    """spec 07.5"""
    turns = [turn(i, cost=20) for i in range(4)]
    assert len(select_tail(turns, price, m=3, target=30).older) == 1
    assert len(select_tail(turns, price, m=2, target=60).older) == 1


def test_short_empty_and_disabled_tails() -> None:
    """spec 07.7"""
    turns = tuple(alternating(3))
    assert select_tail(turns, price, m=4) == Tail((), turns, turns, bundle_split=False)
    assert select_tail([], price) == Tail((), (), (), bundle_split=False)
    assert select_tail(turns, price, m=0) == Tail(turns, (), (), bundle_split=False)
    assert select_tail(turns, price, m=-1).recent == ()


def test_policy_never_disables_the_tail() -> None:
    turns = alternating(6)
    assert TailPolicy(turns=0, target=0).select(turns, price).base == (turns[-1],)


ROLES = st.sampled_from(["user", "assistant", "tool", "system"])


@st.composite
def sessions(draw: st.DrawFn) -> list[Turn]:
    rows = draw(
        st.lists(
            st.tuples(ROLES, st.integers(0, 60), st.sampled_from(["", "", "p", "q"])),
            max_size=14,
        )
    )
    return [turn(i, role, cost, bundle_id=bundle) for i, (role, cost, bundle) in enumerate(rows)]


TARGETS = st.integers(0, 400)


@settings(max_examples=200)
@given(sessions(), st.integers(1, 6), TARGETS, st.integers(0, 400))
def test_tail_laws(turns: list[Turn], m: int, target: int, slack: int) -> None:
    """spec 07.8"""
    base_cost = total(turns[-m:])
    hardcap = base_cost + slack  # assembly goes into degraded mode before it calls with less
    tail = select_tail(turns, price, m=m, target=target, hardcap=hardcap)
    closure = turns[bundle_start(turns, max(0, len(turns) - m)) :]
    assert tail.older + tail.recent == tuple(turns)
    assert tail.base == tuple(turns[-m:])
    assert tail.recent[len(tail.recent) - len(tail.base) :] == tail.base
    assert total(tail.recent) <= max(target, base_cost, total(closure))
    assert total(tail.recent) <= hardcap
    cut = len(tail.older)
    is_safe = bundle_start(turns, cut) == cut
    assert is_safe or tail.bundle_split
    assert not tail.bundle_split or total(closure) > hardcap


@settings(max_examples=200)
@given(sessions(), st.integers(1, 6), TARGETS)
def test_tail_is_the_longest_safe_suffix_within_the_cap(turns: list[Turn], m: int, target: int) -> None:
    """spec 07.8"""
    tail = select_tail(turns, price, m=m, target=target)
    base = max(0, len(turns) - m)
    cap = max(target, total(turns[base:]))
    closure = bundle_start(turns, base)
    fitting = [
        start for start in range(closure + 1) if bundle_start(turns, start) == start and total(turns[start:]) <= cap
    ]
    assert len(tail.older) == min(fitting, default=closure)


@settings(max_examples=200)
@given(sessions(), st.integers(1, 6), TARGETS, st.integers(0, 200))
def test_growing_target_never_shortens_the_tail(turns: list[Turn], m: int, target: int, more: int) -> None:
    """spec 07.9"""
    small = select_tail(turns, price, m=m, target=target)
    large = select_tail(turns, price, m=m, target=target + more)
    assert len(large.recent) >= len(small.recent)


@settings(max_examples=200)
@given(sessions(), st.integers(1, 6), TARGETS, ROLES, st.integers(0, 60))
def test_new_turn_never_brings_an_older_one_back(turns: list[Turn], m: int, target: int, role: str, cost: int) -> None:
    """spec 07.9"""
    before = select_tail(turns, price, m=m, target=target)
    after = select_tail([*turns, turn(len(turns), role, cost)], price, m=m, target=target)
    assert set(after.recent).isdisjoint(before.older)
    resumed = select_tail([*before.recent, turn(len(turns), role, cost)], price, m=m, target=target)
    assert resumed.recent == after.recent


@settings(max_examples=200)
@given(sessions(), st.randoms(use_true_random=False), st.integers(1, 6), TARGETS)
def test_tail_does_not_depend_on_input_order(turns: list[Turn], random: Random, m: int, target: int) -> None:
    shuffled = list(turns)
    random.shuffle(shuffled)
    assert select_tail(shuffled, price, m=m, target=target) == select_tail(turns, price, m=m, target=target)
