"""Composes the memory part of a prompt: a pure function of turns, candidates and the budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from lithify.assembly.schema import Block, Entry
from lithify.memory.prompt.composition import Composition, Item, compose_fixed, entry_item, fill
from lithify.memory.prompt.rendering import RECALLED, TAIL
from lithify.memory.prompt.tail import Turn, chronological, select_tail
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.duplicates import distinct_turns, without_shown
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.ranking import Scored
from lithify.memory.ranking.scoring import coarse_cut, score_pass2


@dataclass(frozen=True, slots=True)
class Context:
    """What goes into the prompt, and everything that was considered for it."""

    composition: Composition
    turns: dict[str, Turn]
    considered: list[Scored]

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.composition.blocks())

    @property
    def tokens(self) -> int:
        return self.composition.tokens()

    @property
    def reasons(self) -> list[str]:
        return [str(reason) for reason in self.composition.fixed.budgets.reasons]


def compose_context(
    turns: Sequence[Turn],
    candidates: Sequence[Candidate],
    keywords: Sequence[str],
    tau: float,
    profile: Profile,
    now_ms: int,
) -> Context:
    """The tail first, then the best memories that are not in it, all within `tau`."""
    ordered = chronological(turns)
    base = [turn_item(turn) for turn in ordered[-profile.tail_turns :]]

    def grow(target: float, hardcap: float) -> list[Item]:
        tail = select_tail(ordered, turn_cost, m=profile.tail_turns, target=target, hardcap=hardcap)
        return [turn_item(turn) for turn in tail.recent]

    fixed = compose_fixed(tau, (), (), base, grow, profile)
    shown = {item.id for item in fixed.tail}
    considered = rank(without_shown(candidates, (), shown), keywords, profile, now_ms)
    recalled = [memory_item(scored) for scored in considered[: profile.final_size]]
    return Context(fill(fixed, (), recalled), {turn.id: turn for turn in ordered}, considered)


def rank(candidates: Sequence[Candidate], keywords: Sequence[str], profile: Profile, now_ms: int) -> list[Scored]:
    max_access = max((candidate.access_count for candidate in candidates), default=0.0)
    return distinct_turns(score_pass2(coarse_cut(candidates, profile), keywords, profile, now_ms, max_access))


def turn_item(turn: Turn) -> Item:
    return entry_item(turn.id, turn.text, turn.role, "session")


def turn_cost(turn: Turn) -> int:
    return turn_item(turn).cost


def memory_item(scored: Scored) -> Item:
    candidate = scored.candidate
    return entry_item(candidate.id, candidate.text, candidate.role, "recalled", candidate.source_turn)


def blocks_of(context: Context) -> list[Block]:
    """The blocks as data, for hosts that render by themselves."""
    scored = {row.candidate.id: row for row in context.considered}
    tail = [tail_entry(item, context.turns[item.id]) for item in context.composition.fixed.tail]
    recalled = [recalled_entry(item, scored[item.id]) for item in context.composition.recalled]
    named = ((TAIL.name, tail), (RECALLED.name, recalled))
    return [Block(name=name, entries=entries) for name, entries in named if entries]


def tail_entry(item: Item, turn: Turn) -> Entry:
    return Entry(id=item.id, event_id=turn.id, text=turn.text, role=turn.role, source="session", tokens=item.cost)


def recalled_entry(item: Item, scored: Scored) -> Entry:
    candidate = scored.candidate
    return Entry(
        id=item.id,
        event_id=candidate.source_turn,
        text=candidate.text,
        role=candidate.role or "unknown",
        source="recalled",
        tokens=item.cost,
        score=scored.score,
    )
