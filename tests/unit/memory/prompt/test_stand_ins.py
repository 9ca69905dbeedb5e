"""A summary takes the place of turns that do not fit, and of few that do."""

from collections.abc import Sequence

import pytest

from lithify.memory.prompt.composition import Composition, Cut, Item, Limit, compose_fixed
from lithify.memory.prompt.rendering import Line
from lithify.memory.prompt.stand_ins import StandIn, let_summaries_stand
from lithify.memory.ranking.profile import RECALL

COST = 10


def make_item(name: str, cost: int = COST, text: str = "") -> Item:
    return Item(name, Line("", text or name), cost, text or name, source_turn=f"turn-{name}")


def make_summary(names: str, cost: int = COST, text: str = "they built a boat") -> StandIn:
    item = Item(f"summary-{names}", Line("", text), cost, text)
    return StandIn(item, frozenset(f"turn-{name}" for name in names))


def pack(offered: Sequence[Item], shown: str) -> Composition:
    fixed = compose_fixed(1000.0, [], [], [], lambda _target, _limit: [], RECALL.normalise())
    kept = tuple(item for item in offered if item.id in shown)
    left = tuple(Cut(item.id, item.cost, Limit.RETRIEVAL) for item in offered if item.id not in shown)
    return Composition(fixed, (), kept, left)


def stand(shown: str, *summaries: StandIn, room: float) -> tuple[str, set[str]]:
    offered = [make_item(name) for name in "abcdefgh"]
    packed = let_summaries_stand(pack(offered, shown), offered, summaries, room)
    told = {cut.id for cut in packed.cut if cut.limit is Limit.SUMMARY}
    assert sum(item.cost for item in packed.recalled) <= max(room, COST * len(shown))
    return " ".join(item.id for item in packed.recalled), told


def test_a_summary_stands_for_the_turns_without_room() -> None:
    assert stand("abcd", make_summary("efg"), room=50.0) == ("a b c d summary-efg", {"e", "f", "g"})


def test_a_turn_gives_way_where_the_summary_tells_of_two_more() -> None:
    assert stand("abcd", make_summary("adef"), room=40.0) == ("a b c summary-adef", {"d", "e", "f"})


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (make_summary("de"), "one turn without room is no reason"),
        (make_summary("efg"), "nothing of its own gives way"),
        (make_summary("abef"), "the better half of what is shown stays"),
        (make_summary("cdef", cost=20), "two turns do not give way to two"),
        (make_summary("adefg", text="a a A"), "it says nothing that is not shown"),
        (make_summary("defg", text=""), "an empty summary says nothing"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_turns_stay_where_a_summary_does_not_help(summary: StandIn, why: str) -> None:
    assert stand("abcd", summary, room=40.0) == ("a b c d", set()), why


def test_each_turn_is_told_once_and_summaries_of_better_turns_come_first() -> None:
    shown, told = stand("abcd", make_summary("fgh"), make_summary("efg"), room=50.0)
    assert (shown, told) == ("a b c d summary-efg", {"e", "f", "g"})


def test_a_summary_of_nothing_that_was_found_is_left_out() -> None:
    assert stand("abcd", make_summary("xyz"), room=100.0) == ("a b c d", set())
