"""The temporal projection inside a whole assembly: what changes, and what must not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.prompt.composition import (
    Composition,
    compose_fixed,
    entry_item,
    fill_composition,
    rule_item,
    used_overhead,
)
from lithify.memory.prompt.rendering import FRAMES, RECALLED
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.cues import keywords
from lithify.memory.ranking.hops import Projected, merge_projection, plan_hops
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.memory.ranking.relevance import Signals
from lithify.memory.ranking.scoring import Scored, score_pass2
from lithify.memory.temporal.anchors import anchor_density
from lithify.memory.temporal.projection import SlotCosines, TemporalProjection, project_temporally
from lithify.memory.temporal.query import read_temporal_query
from lithify.memory.tokens import estimate_lines

NOW_MS = 1_700_000_000_000


VISA = "How many days did I wait to get the visa after mailing the passport?"


HARD, SOFT = "Never reveal the keys.", "Prefer short answers."


BOTH_PROFILES = pytest.mark.parametrize("profile", [SEED, RECALL], ids=["seed", "recall"])


plain_words = ["quiet", "cafe", "near", "museum", "visa", "passport", "suggest", "a", "tea", "Biscuit", "?", "駅"]


plain_queries = st.lists(st.sampled_from(plain_words), max_size=10).map(" ".join)


texts = st.lists(
    st.sampled_from(["visa", "passport", "mailing", "4/2", "Monday", "<b>", "駅前", "wait", "museum", "2024-08-11"]),
    min_size=1,
    max_size=30,
).map(" ".join)


def turn(record_id: str, text: str, sim: float, hop_targets: tuple[str, ...] = ()) -> Candidate:
    return Candidate(
        record_id,
        text,
        Scope.SESSION,
        Kind.TURN,
        Signals(dense=sim, lexical=sim),
        ts=NOW_MS,
        role="user",
        anchors=anchor_density(text),
        hop_targets=hop_targets,
    )


turns = st.lists(
    st.builds(
        turn,
        st.integers(0, 40).map("r{}".format),
        texts,
        st.floats(0.0, 1.0),
        st.lists(st.integers(0, 40).map("r{}".format), max_size=3).map(tuple),
    ),
    max_size=24,
    unique_by=lambda candidate: candidate.id,
)


def rank(candidates: Sequence[Candidate], query: str, profile: Profile) -> Sequence[Scored]:
    return score_pass2(candidates, keywords(query), profile, NOW_MS, max_access=0)


def standard_order(direct: Sequence[Scored], candidates: Sequence[Candidate], profile: Profile) -> list[Projected]:
    results = [Projected.of(scored) for scored in direct]
    return merge_projection(results, plan_hops(direct, profile), {c.id: c for c in candidates})


def project(
    candidates: Sequence[Candidate], query: str, profile: Profile, cosines: SlotCosines | None = None
) -> TemporalProjection:
    ranked = rank(candidates, query, profile)
    direct = [s for s in ranked if s.relevance >= profile.similarity_floor][: profile.final_size]
    standard = standard_order(direct, candidates, profile)
    return project_temporally(read_temporal_query(query), direct, ranked, standard, profile, cosines)


def assemble(order: Sequence[Projected], tau: float, profile: Profile) -> Composition:
    hard, soft = [rule_item("h", HARD)], [rule_item("s", SOFT)]
    fixed = compose_fixed(tau, hard, soft, [], lambda _target, _limit: [], profile)
    entries = [entry_item(p.candidate.id, p.candidate.text, "user", RECALLED) for p in order]
    return fill_composition(fixed, [], entries)


def ids(order: Sequence[Projected]) -> list[str]:
    return [item.candidate.id for item in order]


@BOTH_PROFILES
@settings(max_examples=200, deadline=None)
@given(candidates=turns, query=plain_queries)
def test_a_query_without_temporal_words_is_answered_as_if_the_selector_did_not_exist(
    profile: Profile, candidates: list[Candidate], query: str
) -> None:
    """spec 09.8"""
    direct = rank(candidates, query, profile)[: profile.final_size]
    standard = standard_order(direct, candidates, profile)
    projection = project_temporally(read_temporal_query(query), direct, direct, standard, profile)
    assert repr(projection.order).encode() == repr(tuple(standard)).encode()
    assert projection.picks == ()


@BOTH_PROFILES
def test_both_dated_turns_are_injected_where_only_two_fit(profile: Profile) -> None:
    """spec 09.10"""
    profile = replace(profile, hard_fraction=None)
    candidates = [
        turn("broad", "Embassies, forms and stamps have been all that I talk about", 0.8),
        turn("start", "I was mailing the passport on 4/2", 0.5),
        turn("end", "They let me get the visa on 5/20", 0.5),
    ]
    costs = sorted(entry_item(c.id, c.text, "user", RECALLED).cost for c in candidates)
    rules = rule_item("h", HARD).cost + rule_item("s", SOFT).cost
    frames = used_overhead(FRAMES, estimate_lines, rules=True, tail=False, recalls=True)
    room_for_two = frames + rules + sum(costs[-2:])

    def injected(order: Sequence[Projected]) -> set[str]:
        return {item.id for item in assemble(order, room_for_two, profile).recalled}

    plain = standard_order(rank(candidates, VISA, profile), candidates, profile)
    assert "broad" in injected(plain)
    assert injected(project(candidates, VISA, profile).order) == {"start", "end"}


def test_a_dated_turn_below_the_similarity_floor_is_recovered_and_picked() -> None:
    """spec 09.7, spec 09.10"""
    candidates = [
        turn("broad", "Long talk on the passport", 0.9),
        turn("dated", "The visa came on Monday 5/20 at 8:15 am", 0.16),
        turn("faint", "The visa came on Monday 5/21 at 8:15 am", 0.149),
    ]
    projection = project(candidates, VISA, SEED)
    assert projection.recovered == ("memories::dated",)
    assert [pick.key for pick in projection.picks] == ["memories::broad", "memories::dated"]


def test_only_a_turn_that_says_when_covers_an_event_where_that_is_wanted() -> None:
    candidates = [
        turn("broad", "I cannot wait to get the visa after mailing the passport", 0.9),
        turn("start", "I was mailing the passport on 4/2", 0.5),
        turn("end", "They let me get the visa on 5/20", 0.5),
    ]
    gains = {pick.key: pick.gain for pick in project(candidates, VISA, SEED).picks}
    assert gains["memories::broad"] == 1.0
    dated = project(candidates, VISA, replace(SEED, dated_coverage=True))
    assert {pick.key: pick.gain for pick in dated.picks} == {
        "memories::start": 0.5,
        "memories::end": 0.5,
        "memories::broad": 0.0,
    }


def test_a_second_copy_of_a_surviving_turn_is_not_recovered() -> None:
    kept = replace(turn("kept", "The visa came on 5/20", 0.9), source_turn="t1")
    copy = replace(turn("copy", "The visa came on 5/20", 0.16), source_turn="t1")
    projection = project([kept, copy], VISA, SEED)
    assert projection.recovered == ()
    assert ids(projection.order) == ["kept"]


def test_meaning_alone_can_cover_a_slot() -> None:
    """The words of the first turn match no slot; its cosine does (X49)."""
    candidates = [turn("papers", "I sent my travel papers on 4/2", 0.5), turn("visa", "The visa: wait and get", 0.5)]
    by_words = project(candidates, VISA, SEED)
    by_meaning = project(candidates, VISA, SEED, {"papers": (0.1, 0.5)})
    assert {pick.key: pick.gain for pick in by_words.picks}["memories::papers"] == 0.0
    assert {pick.key: pick.gain for pick in by_meaning.picks}["memories::papers"] == 0.5


def test_what_the_picks_leave_is_filled_in_the_standard_order() -> None:
    candidates = [turn(f"r{i}", "visa", 0.9 - i / 100, ("linked",) if i == 0 else ()) for i in range(6)]
    candidates.append(turn("linked", "an old note", 0.1))
    filled = project(candidates, VISA, replace(SEED, temporal_fill=True))
    assert ids(filled.order) == ["r0", "r1", "r2", "r3", "r4", "r5", "linked"]


def test_without_filling_only_picks_and_hops_remain() -> None:
    candidates = [turn(f"r{i}", "visa", 0.9 - i / 100, ("linked",) if i == 0 else ()) for i in range(6)]
    candidates.append(turn("linked", "an old note", 0.1))
    bare = project(candidates, VISA, SEED)
    assert ids(bare.order) == ["r0", "r1", "r2", "linked"]
    assert [p.sigma for p in bare.order] == sorted((p.sigma for p in bare.order), reverse=True)


@BOTH_PROFILES
def test_an_empty_pool_gives_an_empty_projection(profile: Profile) -> None:
    assert project([], VISA, profile) == TemporalProjection(())


@BOTH_PROFILES
@settings(max_examples=200, deadline=None)
@given(candidates=turns, tau=st.integers(0, 900), fill_up=st.booleans())
def test_budget_and_invariants_hold_in_temporal_mode(
    profile: Profile, candidates: list[Candidate], tau: int, fill_up: bool
) -> None:
    """spec 09.11"""
    profile = replace(profile, temporal_fill=fill_up)
    projection = project(candidates, VISA, profile)
    composition = assemble(projection.order, tau, profile)
    survivors = {pick.key for pick in projection.picks}
    recalled = [item.id for item in composition.recalled]
    assert len(survivors) == len(projection.picks) <= 3
    assert len(ids(projection.order)) == len(set(ids(projection.order)))
    assert all(0.0 <= item.sigma <= 1.0 for item in projection.order)
    assert recalled == ids(projection.order)[: len(recalled)]
    assert [item.text for item in composition.fixed.hard] == [HARD]
    if not composition.fixed.budgets.is_degraded:
        assert estimate_lines(composition.text) <= tau
    assert project(candidates, VISA, profile) == projection
