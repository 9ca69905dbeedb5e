"""Selects the memories that may go into a prompt, best first: ranks, doubts, and gives every source its share."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from lithify.assembly.prompt.ingredients import Ingredients, Terms
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.cues import asks_about_self, keywords
from lithify.memory.ranking.duplicates import Ranked, distinct_turns, drop_shown
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.renewal import put_newer_first
from lithify.memory.ranking.scoring import (
    Scored,
    coarse_cut,
    let_durable_stand,
    put_newest_first,
    score_pass2,
)
from lithify.memory.tokens import estimate_tokens

RankedT = TypeVar("RankedT", bound=Ranked)
DOUBT_TOKENS: Final = 40
DOUBT_CHARS: Final = 400  # longer texts are not worth counting


def rank_candidates(candidates: Sequence[Candidate], ingredients: Ingredients, terms: Terms) -> tuple[Scored, ...]:
    """Ranks in both passes of spec 08: the coarse cut, then every survivor with its components, best first."""
    if not candidates:
        return ()
    ranked = score_candidates(coarse_cut(candidates, terms.profile, terms.floor), ingredients, terms)
    if terms.profile.relevance_floor is None and terms.floor is not None:
        ranked = tuple(row for row in ranked if row.score >= terms.floor)
    return ranked


def admit_doubtful(
    considered: tuple[Scored, ...], memories: Sequence[Candidate], ingredients: Ingredients, terms: Terms
) -> tuple[Scored, ...]:
    """Adds the best of what is below the floor, where somebody asks about himself and hardly anything is above it.

    Only short things that he may have said of himself: a doubt is worth a few lines, not a page of an assistant's.
    """
    places = terms.profile.doubt_places - len(considered)
    if places <= 0 or terms.is_strict or not asks_about_self(ingredients.query, ingredients.user):
        return considered
    known = {row.candidate.id for row in considered}
    least = replace(terms, floor=terms.profile.doubt_floor)
    short = [c for c in memories if c.id not in known and is_brief_statement(c)]
    doubtful = distinct_turns(rank_candidates(short, ingredients, least))
    # Where all are weak, to be the best of them says less than the chance to help.
    doubtful.sort(key=lambda row: row.candidate.signals.helpful or 0.0, reverse=True)
    return considered + tuple(doubtful[:places])


def is_brief_statement(candidate: Candidate) -> bool:
    """Says whether a memory is short and not the answer of an assistant or a tool."""
    if candidate.role in ("assistant", "tool") or len(candidate.text) > DOUBT_CHARS:
        return False
    return estimate_tokens(candidate.text) <= DOUBT_TOKENS


def score_candidates(candidates: Sequence[Candidate], ingredients: Ingredients, terms: Terms) -> tuple[Scored, ...]:
    if not candidates:
        return ()
    wanted = keywords(ingredients.query)
    return tuple(score_pass2(candidates, wanted, terms.profile, now_ms=terms.now_ms, max_access=ingredients.max_access))


def pick_distinct(ranked: Sequence[Scored], query: str, profile: Profile) -> list[Scored]:
    """Picks one copy of each turn, and puts what is newest before what it says anew, as a search does."""
    distinct = distinct_turns(let_durable_stand(ranked) if profile.durable_authority else ranked)
    return put_newest_first(put_newer_first(distinct, query, profile.renewal))


def pick_survivors(distinct: Sequence[Scored], sources: Mapping[str, str], profile: Profile) -> list[Scored]:
    """Picks C2, of every source its share where the profile knows one."""
    if profile.source_share is None:
        return list(distinct[: profile.final_size])
    return spread_sources(distinct, sources, profile.final_size, profile.source_share)


def find_unplaced(distinct: Sequence[Scored], direct: Sequence[Scored], profile: Profile) -> frozenset[str]:
    """Returns what is beyond C2 and would help; without a floor nobody knows what would."""
    if profile.relevance_floor is None or len(distinct) == len(direct):
        return frozenset()
    return frozenset(row.candidate.id for row in distinct) - {row.candidate.id for row in direct}


def spread_sources(ranked: Sequence[RankedT], sources: Mapping[str, str], size: int, share: float) -> list[RankedT]:
    """Picks the best `size`, in their order; what a source holds beyond its share comes in where places stay free."""
    cap = max(1, int(size * share))
    seen: dict[str, int] = defaultdict(int)
    within: list[int] = []
    beyond: list[int] = []
    for place, item in enumerate(ranked):
        source = sources.get(item.candidate.id, item.candidate.id)
        seen[source] += 1
        (within if seen[source] <= cap else beyond).append(place)
    chosen = within[:size] + beyond[: max(0, size - len(within))]
    return [ranked[place] for place in sorted(chosen)]


def rank_advice(
    found: Sequence[Candidate], shown: Collection[str], ingredients: Ingredients, terms: Terms
) -> list[Scored]:
    """Puts what bears on every question first, the newest before the older, then what was found for this one.

    A later instruction that says otherwise retires the earlier one.
    """
    general = drop_shown(ingredients.general, (), shown)
    known = {candidate.id: candidate for candidate in found}
    always = [make_unscored(known.get(candidate.id, candidate)) for candidate in general]
    return [*always, *rank_candidates([c for c in found if c.superseded_by is None], ingredients, terms)]


def make_unscored(candidate: Candidate) -> Scored:
    """Makes a row of a receipt of what nobody has compared with a question."""
    return Scored(candidate, 0.0, 0.0, 0.0, 0.0, weight=0.0, coverage=0.0, quality=1.0, score=0.0)
