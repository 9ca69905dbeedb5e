"""Turns of a session: their order and their bundles (spec 07)."""

import math
from collections.abc import Sequence
from dataclasses import replace

from lithify.memory.prompt.tail import select_tail
from lithify.memory.turn import Turn, are_coupled, sort_chronologically


def turn(i: int, role: str = "note", cost: float = 30.0, bundle_id: str = "") -> Turn:
    """The text carries the cost, so that a cost function needs no table."""
    return Turn(f"t{i:04}", float(i), role, str(cost), bundle_id=bundle_id)


def price(item: Turn) -> float:
    return float(item.text)


def alternating(n: int, cost: float = 30.0) -> list[Turn]:
    return [turn(i, ("user", "assistant")[i % 2], cost) for i in range(n)]


def total(turns: Sequence[Turn]) -> float:
    return math.fsum(map(price, turns))


def test_replies_do_not_bind_the_next_request() -> None:
    """spec 07.4 (X35)"""
    turns = alternating(10)
    assert not are_coupled(turns[1], turns[2])
    assert select_tail(turns, price, m=4, target=128).older == tuple(turns[:6])


def test_bundle_ids_keep_turns_together() -> None:
    """spec 07.6"""
    turns = [turn(0, cost=1), turn(1, cost=5, bundle_id="p"), turn(2, cost=1, bundle_id="p"), turn(3, cost=1)]
    tail = select_tail(turns, price, m=2, target=2)
    assert tail.recent == tuple(turns[1:])
    assert total(tail.recent) == 7


def test_tool_results_stay_with_their_call_where_the_host_bundles_them() -> None:
    call, result, further = [turn(i, role, bundle_id="c1") for i, role in enumerate(("assistant", "tool", "tool"))]
    assert are_coupled(call, result)
    assert are_coupled(result, further)
    assert not are_coupled(call, replace(result, bundle_id="c2"))
    assert not are_coupled(replace(call, bundle_id=""), replace(result, bundle_id=""))


def test_reply_to_another_turn_is_not_coupled() -> None:
    request, reply = alternating(2)
    assert are_coupled(request, reply)
    assert are_coupled(request, replace(reply, reply_to=request.id))
    assert not are_coupled(request, replace(reply, reply_to="elsewhere"))


def test_order_is_time_then_position_then_id_and_unreadable_time_is_first() -> None:
    turns = [
        Turn("b", 5.0, "user", "1"),
        Turn("a", 5.0, "user", "1"),
        Turn("z", 5.0, "user", "1", seq=-1),
        Turn("y", math.nan, "user", "1"),
    ]
    assert [item.id for item in sort_chronologically(turns)] == ["y", "z", "a", "b"]
