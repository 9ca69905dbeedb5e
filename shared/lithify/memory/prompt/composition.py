"""Chooses what is injected: first rules and tail, then, after retrieval, guidance and recall (spec 08 §5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter

from lithify.memory.bounds import number_or
from lithify.memory.prompt.budget import (
    Budgets,
    DegradedReason,
    degraded_reasons,
    pack_prefix,
    plan_budgets,
    share_room,
)
from lithify.memory.prompt.excerpt import Fits
from lithify.memory.prompt.mark import mark_spoken, spoken_role
from lithify.memory.prompt.quotation import indent_lines, neutralise_text, quote_text
from lithify.memory.prompt.rendering import (
    AUTHORED,
    FRAMES,
    TAIL,
    Block,
    Frames,
    Line,
    RenderedBlock,
    TokenCounter,
    frame_cost,
    line_cost,
    render_blocks,
)
from lithify.memory.ranking.profile import Profile
from lithify.memory.tokens import estimate_lines
from lithify.memory.turn import Turn


@dataclass(frozen=True, slots=True)
class Item:
    """Something that may be injected: its line exactly as the model would see it, and its price."""

    id: str
    line: Line
    cost: int
    text: str = ""  # the words that the line shows, as they were stored
    source_turn: str | None = None
    is_excerpt: bool = False  # whether the line shows a part of what was said
    best_part: str | None = None  # of a long text, the part that answers


Cutter = Callable[[Item, Fits], str | None]
Shortener = Callable[[Item, float], Item | None]


def never_shorten(_item: Item, _room: float) -> Item | None:
    """Shortens nothing: what does not fit is left out."""
    return None


def rule_item(record_id: str, text: str, count: TokenCounter = estimate_lines) -> Item:
    """Makes an item of an authored rule: the operator's own words, injected as seen but for its line breaks."""
    line = Line("", indent_lines(neutralise_text(text)))
    return Item(record_id, line, line_cost(AUTHORED, line, count), text)


def entry_item(
    record_id: str,
    text: str,
    mark: str,
    block: Block,
    source_turn: str | None = None,
    count: TokenCounter = estimate_lines,
) -> Item:
    """Makes an item of anything that is not an authored rule: quoted, with its date and its speaker."""
    line = Line(mark, quote_text(text))
    return Item(record_id, line, line_cost(block, line, count), text, source_turn)


def spoken_item(turn: Turn, count: TokenCounter = estimate_lines) -> Item:
    """Makes an item of a turn of the tail; its price is the one that assembly and compaction share (X38)."""
    return entry_item(turn.id, turn.text, mark_spoken(spoken_role(turn.role), turn.ts), TAIL, count=count)


def shorten_item(item: Item, block: Block, cut: Cutter, room: float, count: TokenCounter) -> Item | None:
    """Makes an excerpt of an item that costs at most `room`; None if nothing of it fits."""

    def quote(text: str) -> Line:
        return Line(item.line.mark, quote_text(text))

    part = cut(item, lambda text: line_cost(block, quote(text), count) <= room)
    if part is None:
        return None
    line = quote(part)
    return replace(item, line=line, cost=line_cost(block, line, count), text=part, is_excerpt=True)


class Limit(StrEnum):
    """It names the budget that kept an item out."""

    DEGRADED = "degraded"
    SOFT = "soft"
    GUIDANCE = "guidance"
    RETRIEVAL = "retrieval"
    SUMMARY = "summary"  # there was no room, and a summary stands for it


@dataclass(frozen=True, slots=True)
class Cut:
    id: str
    cost: int
    limit: Limit


@dataclass(frozen=True, slots=True)
class Fixed:
    """It is the part that needs no retrieval."""

    budgets: Budgets
    hard: tuple[Item, ...]
    soft: tuple[Item, ...]
    tail: tuple[Item, ...]
    cut: tuple[Cut, ...]
    frames: Frames = FRAMES
    notice: tuple[str, ...] = ()  # what a degraded prompt says of itself, if there is room
    missing_turns: int = 0  # of the mandatory tail, for want of room

    @property
    def tail_cost(self) -> int:
        return total_cost(self.tail)


@dataclass(frozen=True, slots=True)
class Composition:
    """It holds what is injected, in full, and what a budget kept out."""

    fixed: Fixed
    guidance: tuple[Item, ...]
    recalled: tuple[Item, ...]
    cut: tuple[Cut, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return self.fixed.hard + self.fixed.soft + self.fixed.tail + self.guidance + self.recalled

    @property
    def used_ids(self) -> tuple[str, ...]:
        """Returns the ids whose access count grows by one: recalled memory and guidance, never rules or tail."""
        return tuple(dict.fromkeys(item.id for item in self.guidance + self.recalled))

    def blocks(self) -> tuple[RenderedBlock, ...]:
        return render_blocks(
            self.fixed.frames,
            authored=_lines(self.fixed.hard + self.fixed.soft),
            tail=_lines(self.fixed.tail),
            guidance=_lines(self.guidance),
            recalled=_lines(self.recalled),
            degraded=self.fixed.notice,
        )

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks())


def total_cost(items: Sequence[Item]) -> int:
    return sum(item.cost for item in items)


def compose_fixed(
    tau: float,
    hard: Sequence[Item],
    soft: Sequence[Item],
    base: Sequence[Item],
    select_tail: Callable[[float, float], Sequence[Item]],  # by target and hardcap; it ends in `base`
    profile: Profile,
    count: TokenCounter = estimate_lines,
    frames: Frames = FRAMES,
    shorten: Shortener = never_shorten,
    recalls: bool = True,
) -> Fixed:
    """Takes hard rules in full, the mandatory tail as far as it fits, a prefix of soft rules, then more of the tail."""
    overhead = used_overhead(frames, count, rules=bool(hard or soft), tail=bool(base), recalls=recalls)
    hard_cost = total_cost(hard)
    reasons = degraded_reasons(max(0.0, number_or(tau, 0.0) - overhead), hard_cost, profile.hard_fraction)
    unused = used_overhead(frames, count, rules=False, tail=False, recalls=bool(reasons and recalls))
    notice, room = reserve_notice(reasons, tau - overhead + unused - hard_cost, count)
    if (soft or recalls) and not reasons:
        room = min(room, profile.tail_share * (room + hard_cost))
    kept = fit_turns(base, room, shorten, profile.excerpt_tokens)
    budgets = plan_budgets(
        tau,
        overhead=overhead,
        hard_cost=hard_cost,
        base_cost=total_cost(kept),
        soft_costs=[item.cost for item in soft],
        profile=profile,
    )
    is_whole = list(kept) == list(base) and not budgets.is_degraded
    return Fixed(
        budgets=budgets,
        hard=tuple(hard),
        soft=tuple(soft[: budgets.soft_count]),
        tail=tuple(select_tail(budgets.tail_target, budgets.tail_limit) if is_whole else kept),
        cut=_cuts(soft[budgets.soft_count :], Limit.DEGRADED if budgets.is_degraded else Limit.SOFT),
        frames=frames,
        notice=notice,
        missing_turns=len(base) - len(kept),
    )


def used_overhead(frames: Frames, count: TokenCounter, *, rules: bool, tail: bool, recalls: bool) -> int:
    """Returns the tokens of the frames that may be used; what has nothing to show costs nothing."""
    used = ((frames.authored, rules), (frames.tail, tail), (frames.guidance, recalls), (frames.recalled, recalls))
    return sum(frame_cost(block, count) for block, is_used in used if is_used)


def reserve_notice(
    reasons: Sequence[DegradedReason], room: float, count: TokenCounter
) -> tuple[tuple[str, ...], float]:
    """Returns what a degraded prompt says of itself, nothing if there is no room, and the room that is left."""
    notice = tuple(map(str, reasons))
    cost = sum(count(block.text) for block in render_blocks(FRAMES, degraded=notice))
    return (notice, room - cost) if cost <= room else ((), room)


def fit_turns(base: Sequence[Item], room: float, shorten: Shortener, least: float) -> list[Item]:
    """Returns the newest turns as they fit: short ones whole, long ones cut, the oldest given up first."""
    if total_cost(base) <= room:
        return list(base)
    kept = list(base)
    while kept and share_room([item.cost for item in kept], room) < min(kept[0].cost, least):
        kept.pop(0)
    level = share_room([item.cost for item in kept], room)
    parts = [item if item.cost <= level else shorten(item, level) for item in kept]
    fitting = [part for part in parts if part is not None]
    # A turn nothing of which fits ends the tail: what is older would not be the newest any more.
    ends = max((place for place, part in enumerate(parts) if part is None), default=-1)
    return fitting[len(fitting) - (len(parts) - ends - 1) :] if fitting else []


def fill_composition(
    fixed: Fixed,
    guidance: Sequence[Item],
    recalled: Sequence[Item],
    profile: Profile | None = None,
    shorten: Shortener = never_shorten,
) -> Composition:
    """Packs guidance under its share, then recall under all that is left, each in the order of its ranking (X58).

    Without a profile, or where it says so, the first that does not fit ends its list (spec 02 §4).
    """
    room = fixed.budgets.retrieval(fixed.tail_cost)
    if profile is None or profile.packing == "prefix":
        advice = pack_prefix(guidance, fixed.budgets.guidance(fixed.tail_cost), attrgetter("cost"))
        memories = pack_prefix(recalled, room - total_cost(advice), attrgetter("cost"))
    else:
        # Half an instruction is another one, so guidance is shown whole.
        reserve = fixed.budgets.guidance(fixed.tail_cost)
        advice = pack_parts(guidance, reserve, reserve, never_shorten, 0)
        left = room - total_cost(advice)
        most = max(profile.item_share * left, profile.whole_tokens)
        memories = pack_parts(recalled, left, most, shorten, profile.excerpt_tokens)
    degraded = fixed.budgets.is_degraded
    cut = (
        *fixed.cut,
        *_cuts(_left_out(guidance, advice), Limit.DEGRADED if degraded else Limit.GUIDANCE),
        *_cuts(_left_out(recalled, memories), Limit.DEGRADED if degraded else Limit.RETRIEVAL),
    )
    return Composition(fixed, tuple(advice), tuple(memories), cut)


def pack_parts(items: Sequence[Item], room: float, most: float, shorten: Shortener, least: float) -> list[Item]:
    """Takes what fits in the order of the ranking, long ones as excerpts of `most` tokens, or fewer.

    A text whose best part is known begins with that part, so that there is room for others. What does not fit at all
    leaves its place to the next. Where room is left in the end, excerpts become whole again.
    """
    left = room
    taken: list[tuple[Item, Item]] = []
    for item in items:
        allowed = min(left, most)
        is_whole = item.cost <= allowed and item.best_part is None
        part = item if is_whole else shorten(item, allowed) if allowed >= least else None
        if part is not None:
            taken.append((item, part))
            left -= part.cost
    packed: list[Item] = []
    for item, part in taken:
        is_affordable = item.cost - part.cost <= left
        packed.append(item if is_affordable else part)
        left -= item.cost - part.cost if is_affordable else 0
    return packed


def _left_out(offered: Sequence[Item], taken: Sequence[Item]) -> list[Item]:
    shown = {item.id for item in taken}
    return [item for item in offered if item.id not in shown]


def _lines(items: Sequence[Item]) -> list[Line]:
    return [item.line for item in items]


def _cuts(items: Sequence[Item], limit: Limit) -> tuple[Cut, ...]:
    return tuple(Cut(item.id, item.cost, limit) for item in items)
