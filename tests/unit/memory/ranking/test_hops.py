"""Spec 08: one hop along links, and one order for everything found."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.hops import Hop, Projected, merge_projection, plan_hops
from lithify.memory.ranking.profile import SEED, Profile
from lithify.memory.ranking.scoring import Scored
from tests.unit.memory.candidate_samples import PROFILES, candidate


def found(name: str, score: float, *targets: str, source_turn: str | None = None) -> Scored:
    memory = candidate(name, score, hop_targets=targets, source_turn=source_turn)
    return Scored(memory, score, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, score)


def test_targets_get_half_of_their_best_parent() -> None:
    """spec 08.7 (scores)"""
    hops = plan_hops([found("p", 0.9, "x", "y"), found("q", 0.7, "x")], SEED)
    assert hops == [Hop("x", 0.45, ("p", "q")), Hop("y", 0.45, ("p",))]
    assert [hop.score for hop in plan_hops([found("p", 0.30, "x")], SEED)] == [0.15]
    assert plan_hops([found("p", 0.2999, "x")], SEED) == []


def test_only_new_records_are_hopped_to() -> None:
    """spec 08.7 (targets)"""
    parents = [found("p", 0.9, "p", "q", "unknown", "x", "x"), found("q", 0.8, "p")]
    hops = plan_hops(parents, SEED)
    assert [hop.target for hop in hops] == ["unknown", "x"]
    assert hops[1].parents == ("p",)
    projected = merge_projection([Projected.of(p) for p in parents], hops, {"x": candidate("x")})
    assert [item.candidate.id for item in projected] == ["p", "q", "x"]


def test_a_weak_result_that_a_strong_one_links_to_keeps_the_larger_score() -> None:
    """spec 08 §4: a document in both keeps the larger; as most results are direct where many are wanted."""
    direct = [found("p", 0.9, "q"), found("other", 0.3), found("q", 0.08, "x")]
    projected = merge_projection(
        [Projected.of(s) for s in direct], plan_hops(direct, SEED), {s.candidate.id: s.candidate for s in direct}
    )
    assert [(p.candidate.id, p.sigma) for p in projected] == [("p", 0.9), ("q", pytest.approx(0.45)), ("other", 0.3)]
    assert (projected[1].parents, projected[1].similarity) == (("p",), 0.08)


def test_a_cycle_ends_after_one_step() -> None:
    """spec 08.7 (cycle)"""
    hops = plan_hops([found("p", 0.9, "x")], SEED)
    records = {"x": candidate("x", hop_targets=("p", "far")), "far": candidate("far")}
    projected = merge_projection([Projected.of(found("p", 0.9, "x"))], hops, records)
    assert [item.candidate.id for item in projected] == ["p", "x"]


def test_hops_are_merged_by_their_score() -> None:
    """spec 08.8"""
    direct = [found("a", 0.9, "h"), found("b", 0.2)]
    projected = merge_projection([Projected.of(s) for s in direct], plan_hops(direct, SEED), {"h": candidate("h")})
    assert [(p.candidate.id, p.sigma) for p in projected] == [("a", 0.9), ("h", pytest.approx(0.45)), ("b", 0.2)]
    assert [p.parents for p in projected] == [(), ("a",), ()]


def test_a_memory_found_both_ways_keeps_the_higher_score() -> None:
    direct = [Projected.of(found("b", 0.2))]
    projected = merge_projection(direct, [Hop("b", 0.45, ("a",))], {"b": candidate("b")})
    assert [(p.candidate.id, p.sigma) for p in projected] == [("b", 0.45)]


def test_the_copy_of_a_found_turn_is_not_hopped_to() -> None:
    direct = [found("a", 0.9, "copy", source_turn="t1")]
    copies = {"copy": candidate("copy", source_turn="t1")}
    projected = merge_projection([Projected.of(s) for s in direct], plan_hops(direct, SEED), copies)
    assert [p.candidate.id for p in projected] == ["a"]


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(
    links=st.lists(st.tuples(st.floats(0, 1), st.lists(st.integers(0, 9).map("r{}".format), max_size=4)), max_size=6),
    attenuation=st.floats(0, 1),
)
def test_hops_stay_one_step_away_and_below_their_parents(
    profile: Profile, links: list[tuple[float, list[str]]], attenuation: float
) -> None:
    profile = replace(profile, hop_attenuation=attenuation).normalise()
    parents = [found(f"r{i}", score, *targets) for i, (score, targets) in enumerate(links)]
    scores = {parent.candidate.id: parent.score for parent in parents}
    everything: dict[str, Candidate] = {f"r{i}": candidate(f"r{i}") for i in range(10)}
    hops = plan_hops(parents, profile)
    for hop in hops:
        assert hop.score > scores.get(hop.target, 0.0)
        assert hop.target not in hop.parents
        assert hop.score == profile.hop_attenuation * max(scores[parent] for parent in hop.parents)
        assert profile.hop_floor <= hop.score < 1.0
    merged = merge_projection([Projected.of(p) for p in parents], hops, everything)
    assert len(merged) == len({*scores, *(hop.target for hop in hops)})
    assert [item.sigma for item in merged] == sorted((item.sigma for item in merged), reverse=True)
