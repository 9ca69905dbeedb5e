"""What the demo draws tells the truth about its figures."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lithify.cli.demo.conversation import ASKED_IN, COMPACTED, shipped_turns
from lithify.cli.demo.tour import sample_refused
from lithify.cli.demo.views import BAR, FREE, Gated, bar_parts, budget_bar, why_refused
from lithify.client import Receipt
from lithify.client.explanation import SPENDERS

NOW = datetime(2030, 5, 4, 12, tzinfo=UTC)


def receipt_of(costs: dict[str, int], frames: int, budget: int) -> dict[str, Any]:
    blocks: dict[str, Any] = {name: [{"cost": costs[name]}] if costs.get(name) else [] for name in SPENDERS}
    limits = dict.fromkeys(("soft_limit", "tail_limit", "guidance_share", "retrieval"), 1.0)
    return blocks | {"budgets": limits, "tokens": sum(costs.values()) + frames, "token_budget": budget}


@pytest.mark.parametrize(
    ("costs", "frames"),
    [
        ({}, 0),
        ({"recalled": 1}, 1),
        ({"hard_rules": 9_999, "recalled": 10_000}, 500),
        ({"hard_rules": 3, "soft_rules": 50, "tail": 4_000, "guidance": 1, "recalled": 5_900}, 46),
    ],
)
def test_the_bar_keeps_its_width_and_shows_all_who_spent(costs: dict[str, int], frames: int) -> None:
    receipt = receipt_of(costs, frames, 10_000)
    assert budget_bar(receipt).plain.index("]") == BAR + 1
    assert {name for name, _ in bar_parts(receipt)} == {*costs, *(["frames"] if frames else [])}


def test_half_a_budget_is_half_a_bar() -> None:
    assert budget_bar(receipt_of({"recalled": 50}, 0, 100)).plain.count(FREE) == BAR // 2


def gated(**signals: float) -> Gated:
    gate = {f"gating_{name}": value for name, value in signals.items()} | {"threshold": 0.55}
    return Gated("text", Receipt("e", "0-1", 1, 0, promoted=False, gate=gate))


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (gated(score=0.3, h=0.1, d=0.9), "known already"),
        (gated(score=0.3, h=0.9, d=0.1), "worth too little"),
        (gated(score=0.54, h=0.9, d=0.6), "just below"),
        (Gated("still here?", Receipt("e", "0-1", 1, 0, ignored="a heartbeat")), "a sign of life"),
    ],
)
def test_a_refusal_names_the_signal_behind_it(turn: Gated, why: str) -> None:
    assert why_refused(turn) == why


def test_the_sample_goes_from_the_closest_to_the_least() -> None:
    turns = [gated(score=number / 20, h=1.0) for number in range(17)]
    scores = [turn.signal("score") for turn in sample_refused(turns)]
    assert len(scores) == 6
    assert (scores[0], scores[-1]) == (0.8, 0.0)
    assert sample_refused([]) == []


def test_the_shipped_conversation_is_in_order_and_in_the_past() -> None:
    turns = shipped_turns(NOW)
    times = [turn["ts"] for turn in turns]
    assert times == sorted(times)
    assert len({turn["event_id"] for turn in turns}) == len(turns) == 52
    assert times[-1] < NOW.timestamp() * 1000
    assert {COMPACTED, ASKED_IN} <= {turn["session"] for turn in turns}
