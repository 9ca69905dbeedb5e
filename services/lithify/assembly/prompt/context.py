"""Composes the memory part of a prompt: pure functions of what was read, the clock, the profile and the budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lithify.assembly.prompt.conversation import Dialogue, read_conversation, shorten_turns
from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.assembly.prompt.selection import (
    admit_doubtful,
    find_unplaced,
    pick_distinct,
    pick_survivors,
    rank_advice,
    rank_candidates,
    score_candidates,
)
from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.authored import Rule
from lithify.memory.prompt.composition import (
    Composition,
    Fixed,
    Item,
    Shortener,
    compose_fixed,
    entry_item,
    fill_composition,
    rule_item,
    shorten_item,
    total_cost,
)
from lithify.memory.prompt.excerpt import Fits, cut_around, show_part
from lithify.memory.prompt.losses import describe_losses
from lithify.memory.prompt.mark import entry_role, mark_recalled, mark_summary
from lithify.memory.prompt.ordering import Occasion, order_by_time
from lithify.memory.prompt.rendering import GUIDANCE, RECALLED, Frames
from lithify.memory.prompt.stand_ins import StandIn, let_summaries_stand
from lithify.memory.prompt.tail import select_tail
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.duplicates import distinct_turns, drop_shown, lend_signals
from lithify.memory.ranking.helpfulness import is_helpful_enough
from lithify.memory.ranking.hops import Hop, Projected, merge_projection, plan_hops
from lithify.memory.ranking.scoring import (
    Scored,
    put_newest_first,
)
from lithify.memory.temporal.projection import SlotCosines, TemporalProjection, project_temporally
from lithify.memory.temporal.query import TemporalQuery, read_guarded_query


@dataclass(frozen=True, slots=True)
class PlannedContext:
    """Rules and tail are settled and memories ranked; link targets and slot meanings may still be fetched."""

    ingredients: Ingredients
    terms: Terms
    conversation: Dialogue
    base: tuple[Item, ...]
    fixed: Fixed
    bundle_split: bool
    competing: tuple[Candidate, ...]  # what the tail does not show already, guidance apart
    considered: tuple[Scored, ...]  # after the coarse cut, best first, copies included
    direct: tuple[Scored, ...]  # C2
    unplaced: frozenset[str]  # ids of what would probably help, but found no place in C2
    advice: tuple[Scored, ...]  # guidance shards, best first
    hops: tuple[Hop, ...]
    temporal: TemporalQuery

    @property
    def known(self) -> list[Candidate]:
        """Returns what competes, if this memory knows about the question at all; else a date proves nothing."""
        floor = self.terms.floor
        return [c for c in self.competing if is_helpful_enough(c.signals.answerable, floor)]


@dataclass(frozen=True, slots=True)
class Context:
    """Holds what goes into the prompt, and everything that was considered for it."""

    planned: PlannedContext
    projection: TemporalProjection
    composition: Composition
    text: str

    @property
    def tokens(self) -> int:
        return self.planned.terms.counter.count(self.text)

    @property
    def is_over_budget(self) -> bool:
        return self.tokens > self.planned.terms.tau

    @property
    def reasons(self) -> list[str]:
        """Says everything that was left out for want of room, each reason once with a count; empty means complete."""
        placed = {item.candidate.id for item in self.projection.order}
        losses = describe_losses(
            self.composition,
            tools=self.planned.conversation.left_out,
            unplaced=len(self.planned.unplaced - placed),
            places=self.planned.terms.profile.final_size,
        )
        return [*map(str, self.composition.fixed.budgets.reasons), *losses]


def compose_context(
    planned: PlannedContext, linked: Mapping[str, Candidate] | None = None, slot_cosines: SlotCosines | None = None
) -> Context:
    """Composes rules and tail first, then guidance and the best memories, all within the budget.

    A tokenizer may count a text higher than the sum of its items; then the same is composed for less until it fits.
    Hard rules that alone exceed the budget are the one thing that costs more.
    """
    terms = aim = planned.terms
    while True:
        context = pack_context(planned, linked or {}, slot_cosines)
        if context.tokens <= terms.tau or aim.tau <= 0.0:
            return replace(context, planned=replace(context.planned, terms=terms))
        aim = replace(aim, tau=min(aim.tau - 1.0, aim.tau * terms.tau / context.tokens))
        planned = plan_context(planned.ingredients, aim)


def plan_context(ingredients: Ingredients, terms: Terms) -> PlannedContext:
    """Settles rules and tail, and ranks the memories that compete for the rest."""
    profile = terms.profile
    conversation = read_conversation(ingredients.turns, profile, terms.counter)
    base = tuple(conversation.item(turn, terms.counter) for turn in conversation.mandatory)
    fixed, split = settle_fixed(ingredients, conversation, base, terms)
    shown = {item.id for item in fixed.tail}
    competing = drop_shown(ingredients.candidates, (), shown)
    advice = rank_advice([c for c in competing if c.kind is Kind.GUIDANCE], shown, ingredients, terms)
    memories = [c for c in competing if c.kind is not Kind.GUIDANCE]
    considered = rank_candidates(lend_signals(memories) if profile.durable_authority else memories, ingredients, terms)
    considered = admit_doubtful(considered, memories, ingredients, terms)
    distinct = pick_distinct(considered, ingredients.query, profile)
    direct = pick_survivors(distinct, ingredients.sources, profile)
    return PlannedContext(
        ingredients=ingredients,
        terms=terms,
        conversation=conversation,
        base=base,
        fixed=fixed,
        bundle_split=split,
        competing=tuple(memories),
        considered=considered,
        direct=tuple(direct),
        unplaced=find_unplaced(distinct, direct, profile),
        advice=tuple(distinct_turns(advice)),
        hops=tuple(plan_hops(direct, profile)),
        temporal=read_guarded_query(ingredients.query, profile),
    )


def settle_fixed(
    ingredients: Ingredients, conversation: Dialogue, base: Sequence[Item], terms: Terms
) -> tuple[Fixed, bool]:
    """Returns the part that needs no retrieval, and whether the tail had to split a bundle."""
    profile, counter = terms.profile, terms.counter
    split = False

    def grow(target: float, hardcap: float) -> list[Item]:
        nonlocal split
        tail = select_tail(
            conversation.turns,
            lambda turn: conversation.item(turn, counter).cost,
            m=len(base),
            target=target,
            hardcap=hardcap,
        )
        split = tail.bundle_split
        return [conversation.item(turn, counter) for turn in tail.recent]

    fixed = compose_fixed(
        terms.tau,
        hard=rule_items(ingredients.hard, counter),
        soft=rule_items(ingredients.soft, counter),
        base=base,
        select_tail=grow,
        profile=profile,
        count=counter.count,
        frames=Frames.at(terms.now_ms),
        shorten=shorten_turns(ingredients.query, counter),
        recalls=bool(ingredients.candidates or ingredients.general),
    )
    return fixed, split


def pack_context(planned: PlannedContext, linked: Mapping[str, Candidate], slot_cosines: SlotCosines | None) -> Context:
    """Adds the link targets and, for a question about time, what covers its events; then packs (spec 08 §4, 09 §6)."""
    projected = project(planned, linked, slot_cosines)
    # Links and picks were merged by score.
    projection = replace(projected, order=tuple(put_newest_first(projected.order)))
    counter, fixed = planned.terms.counter, planned.fixed
    advice = [memory_item(row.candidate, counter) for row in planned.advice]
    profile = planned.terms.profile
    shorten = shorten_memories(planned)
    alone = fill_composition(fixed, advice, (), profile, shorten)
    advised = {item.source_turn for item in alone.guidance if item.source_turn}
    # A turn that is shown as guidance is not recalled as well.
    recalled = [p.candidate for p in projection.order if p.candidate.source_turn not in advised]
    memories = [memory_item(candidate, counter) for candidate in recalled]
    filled = add_summaries(fill_composition(fixed, advice, memories, profile, shorten), memories, planned)
    composition = arrange_recalled(filled, [*recalled, *summaries_of(planned)], planned.terms)
    return Context(planned, projection, composition, composition.text)


def add_summaries(composition: Composition, memories: Sequence[Item], planned: PlannedContext) -> Composition:
    """Lets summaries stand for memories that had no room, where the profile shows parts of things at all."""
    if planned.terms.profile.packing == "prefix":
        return composition
    fixed = composition.fixed
    room = fixed.budgets.retrieval(fixed.tail_cost) - total_cost(composition.guidance)
    found = planned.ingredients.summaries
    stand_ins = [StandIn(memory_item(one.candidate, planned.terms.counter), one.turns) for one in found]
    return let_summaries_stand(composition, memories, stand_ins, room)


def summaries_of(planned: PlannedContext) -> list[Candidate]:
    return [summary.candidate for summary in planned.ingredients.summaries]


def shorten_memories(planned: PlannedContext) -> Shortener:
    """Cuts memories down to the piece that was found, or the sentences around what matches the question."""
    query = planned.ingredients.query
    counter = planned.terms.counter

    def cut(item: Item, fits: Fits) -> str | None:
        shown = show_part(item.text, item.best_part, fits) if item.best_part else None
        return shown or cut_around(item.best_part or item.text, query, fits)

    return lambda item, room: shorten_item(item, RECALLED, cut, room, counter.count)


def arrange_recalled(composition: Composition, recalled: Sequence[Candidate], terms: Terms) -> Composition:
    """Puts what was recalled into the order of its time, unless the ranking is wanted."""
    if terms.order == "score":
        return composition
    items = {item.id: item for item in composition.recalled}
    occasions = [occasion_of(candidate) for candidate in recalled if candidate.id in items]
    ordered = order_by_time(occasions, terms.profile.passage_gap)
    return replace(composition, recalled=tuple(items[key] for key in ordered))


def occasion_of(candidate: Candidate) -> Occasion:
    return Occasion(
        key=candidate.id,
        ts=candidate.ts if candidate.since is None else candidate.since,
        session=candidate.session,
        seq=candidate.seq,
        turn=candidate.source_turn,
        superseded_by=candidate.successor or candidate.superseded_by or candidate.renewed_by,
    )


def project(
    planned: PlannedContext, linked: Mapping[str, Candidate], slot_cosines: SlotCosines | None
) -> TemporalProjection:
    reachable = {candidate.id: candidate for candidate in planned.competing} | unshown_links(planned, linked)
    standard = merge_projection([Projected.of(row) for row in planned.direct], planned.hops, reachable)
    # Dated turns are often a weak match, so the selector looks below the floor of the coarse cut (spec 09 §5).
    guarded = planned.temporal.guard.applies
    rest = score_candidates(planned.known, planned.ingredients, planned.terms) if guarded else ()
    return project_temporally(
        planned.temporal,
        direct=planned.direct,
        rest=rest,
        standard=standard,
        profile=planned.terms.profile,
        slot_cosines=slot_cosines,
    )


def unshown_links(planned: PlannedContext, linked: Mapping[str, Candidate]) -> dict[str, Candidate]:
    """Returns the fetched targets that neither the tail nor, as guidance, another block shows."""
    shown = {item.id for item in planned.fixed.tail}
    return {k: c for k, c in linked.items() if c.source_turn not in shown and c.kind is not Kind.GUIDANCE}


def rule_items(rules: Sequence[Rule], counter: PromptCounter) -> list[Item]:
    return [rule_item(rule.id, rule.text, counter.count) for rule in rules]


def memory_item(candidate: Candidate, counter: PromptCounter = ESTIMATOR) -> Item:
    block = GUIDANCE if candidate.kind is Kind.GUIDANCE else RECALLED
    mark = mark_of(candidate)
    item = entry_item(candidate.id, candidate.text, mark, block, candidate.source_turn, counter.count)
    return replace(item, best_part=candidate.excerpt) if candidate.excerpt else item


def mark_of(candidate: Candidate) -> str:
    """Says when a memory was said, and by whom; a summary is nobody's words, and is told from a quote."""
    if candidate.kind is Kind.SUMMARY:
        return mark_summary(candidate.since, candidate.ts)
    return mark_recalled(speaker_of(candidate), candidate.ts, outdated=candidate.superseded_by is not None)


def speaker_of(candidate: Candidate) -> str:
    return entry_role(candidate.role, durable=candidate.scope is Scope.USER)
