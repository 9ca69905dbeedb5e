"""Lets a summary stand for those of its turns that found no room: a line about many for a few of their lines."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lithify.memory.prompt.composition import Composition, Cut, Item, Limit, total_cost

# One turn without room is no reason to tell of all of them.
LEAST_TURNS: Final = 2
# Of a summary's words, those that no line of its turns says already. An extract of what is shown says nothing.
LEAST_NEW: Final = 0.25

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class StandIn:
    """A summary as it would be shown, and the turns that it tells of."""

    item: Item
    turns: frozenset[str]


def let_summaries_stand(
    composition: Composition, offered: Sequence[Item], stand_ins: Sequence[StandIn], room: float
) -> Composition:
    """Puts summaries in the place of memories that had no room, those of the best memories first.

    `offered` are all memories in the order of their ranking, `room` are the tokens of those that are shown. What a
    summary stands for is told in `cut` by a limit of its own.
    """
    places = {item.source_turn: place for place, item in enumerate(offered) if item.source_turn}
    turns = {item.id: item.source_turn for item in offered if item.source_turn}
    for stand_in in sorted(
        stand_ins, key=lambda one: min(map(places.__getitem__, one.turns & places.keys()), default=0)
    ):
        composition = _let_stand(composition, stand_in, turns, room)
    return composition


def _let_stand(composition: Composition, stand_in: StandIn, turns: Mapping[str, str], room: float) -> Composition:
    left = {cut.id for cut in composition.cut if cut.limit is Limit.RETRIEVAL and turns.get(cut.id) in stand_in.turns}
    shown = composition.recalled
    yielding = choose_yielding(stand_in, shown, len(left), room - total_cost(shown))
    if len(left) < LEAST_TURNS or yielding is None:
        return composition
    given_up = {item.id for item in yielding}
    staying = tuple(item for item in shown if item.id not in given_up)
    if not _tells_more(stand_in, staying):
        return composition
    cut = [replace(one, limit=Limit.SUMMARY) if one.id in left else one for one in composition.cut]
    cut += [Cut(item.id, item.cost, Limit.SUMMARY) for item in yielding]
    return replace(composition, recalled=(*staying, stand_in.item), cut=tuple(cut))


def choose_yielding(stand_in: StandIn, shown: Sequence[Item], left: int, free: float) -> list[Item] | None:
    """Returns which of its shown turns give way to a summary; None if it does not fit even so.

    Only turns that it tells of do, the last of the ranking first, none of the better half of what is shown, and only
    one for every two that the summary brings in.
    """
    yielding: list[Item] = []
    later = [item for item in shown[(len(shown) + 1) // 2 :] if item.source_turn in stand_in.turns]
    while free < stand_in.item.cost:
        if not later or len(yielding) >= left // 2:
            return None
        yielding.append(later.pop())
        free += yielding[-1].cost
    return yielding


def _tells_more(stand_in: StandIn, staying: Sequence[Item]) -> bool:
    """Says whether a summary has words that the lines of its turns have not."""
    known = {word for item in staying if item.source_turn in stand_in.turns for word in _words(item.text)}
    told = _words(stand_in.item.text)
    return len(told - known) >= LEAST_NEW * len(told) > 0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
