"""Spec 03: which tier answers, what becomes of failed writes, and repair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Misconfigured, Unavailable
from lithify.memory.bounds import FloatArray
from lithify.memory.vectors.cascade import (
    Cascade,
    Drop,
    DropReason,
    Restore,
    TierTrace,
    next_tier,
    trace_tier,
    usable_tiers,
)
from lithify.memory.vectors.tiers import tier_vector
from tests.unit.memory.tier_store import TierStore

NOMIC = Cascade(dims=(64, 256, 768), thresholds=(0.65, 0.75))


SMALL = Cascade(dims=(2, 4, 8), thresholds=(0.65, 0.75))


FULL_ONLY = Cascade(dims=(8,), thresholds=())


CASCADES = (NOMIC, SMALL)


def axis(number: int, size: int = 8) -> FloatArray:
    vector = np.zeros(size)
    vector[number] = 1.0
    return vector


def filled(*vectors: FloatArray) -> TierStore:
    store = TierStore(SMALL)
    for number, vector in enumerate(vectors):
        store.insert(f"r{number}", vector)
    return store


def test_an_exact_match_is_answered_by_the_first_tier() -> None:
    """spec 03.3 (identical)"""
    answer = filled(axis(0), axis(1)).search(axis(0), 1)
    assert (answer.tier, len(answer.trace)) == ("l1", 1)
    assert [name for name, _ in answer.hits] == ["r0"]


def test_an_orthogonal_query_falls_through_to_the_full_tier() -> None:
    """spec 03.3 (orthogonal)"""
    answer = filled(axis(0), axis(1)).search(axis(7), 2)
    assert [row.tier for row in answer.trace] == ["l1", "l2", "l3"]
    assert [row.exited for row in answer.trace] == [False, False, True]
    assert [row.dims for row in answer.trace] == [2, 4, 8]


def test_without_lower_tiers_the_full_one_is_searched() -> None:
    """spec 03.3 (only full)"""
    store = TierStore(SMALL)
    store.insert("r0", axis(0), failing=("l1", "l2"))
    assert [row.tier for row in store.search(axis(0), 1).trace] == ["l3"]


@pytest.mark.parametrize(("tier", "threshold"), [("l1", 0.65), ("l2", 0.75)])
def test_a_score_exactly_at_the_threshold_exits(tier: str, threshold: float) -> None:
    """spec 03.4"""
    assert trace_tier(NOMIC, tier, [0.1, threshold], 1.0).exited
    assert not trace_tier(NOMIC, tier, [threshold - 1e-9], 1.0).exited


def test_a_partial_tier_hides_nothing() -> None:
    """spec 03.5"""
    store = filled(axis(0) + 0.6 * axis(1))
    store.insert("best", axis(0), failing=("l1",))
    answer = store.search(axis(0), 1)
    assert answer.tier == "l3"
    assert answer.hits[0][0] == "best"
    store.points["best"].missing.clear()  # even when the marker is lost, the counts give the gap away
    assert store.search(axis(0), 1).hits[0][0] == "best"


def test_a_failed_middle_tier_is_marked_and_repaired_once() -> None:
    """spec 03.6"""
    store = TierStore(SMALL)
    store.insert("r0", axis(0), failing=("l2",))
    assert store.holding("l3") == store.holding("l1") == {"r0"}
    assert store.markers() == [("r0", "l2")]
    [action] = store.backfill()
    assert isinstance(action, Restore)
    assert store.points["r0"].vectors["l2"] == pytest.approx(tier_vector(axis(0), 4))
    assert store.markers() == []
    assert store.backfill() == []


def test_both_lower_tiers_may_fail_but_not_the_full_one() -> None:
    """spec 03.7"""
    store = TierStore(SMALL)
    store.insert("r0", axis(0), failing=("l2", "l1"))
    assert store.markers() == [("r0", "l1"), ("r0", "l2")]
    with pytest.raises(Unavailable):
        store.insert("r1", axis(1), failing=("l3",))
    assert set(store.points) == {"r0"}


def test_deleting_leaves_no_tier_and_no_marker() -> None:
    """spec 03.8"""
    store = filled(axis(0))
    store.insert("r1", axis(1), failing=("l1",))
    store.delete("r1")
    assert all(store.holding(tier) == {"r0"} for tier in SMALL.names)
    assert store.markers() == []
    assert [name for name, _ in store.search(axis(1), 5).hits] == ["r0"]
    assert store.search(axis(0), 1).tier == "l1"


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        (7, DropReason.MALFORMED),
        ("", DropReason.MALFORMED),
        (None, DropReason.MALFORMED),
        ("128", DropReason.UNKNOWN_TIER),
        ("l3", DropReason.UNKNOWN_TIER),
    ],
)
def test_markers_that_name_no_lower_tier_are_dropped(marker: object, reason: DropReason) -> None:
    """spec 03.9 (markers)"""
    store = filled(axis(0))
    store.points["r0"].missing = [marker]
    assert store.backfill() == [Drop(reason)]
    assert store.markers() == []


def test_markers_without_a_usable_record_are_dropped() -> None:
    """spec 03.9 (records)"""
    store = TierStore(SMALL)
    for name in ("gone", "short", "bad", "bare"):
        store.insert(name, axis(0), failing=("l1",))
    del store.points["gone"].vectors["l3"]
    store.points["short"].vectors["l3"] = axis(0)[:7]
    store.points["bad"].vectors["l3"] = np.full(8, np.nan)
    store.points["bare"].has_metadata = False
    unusable = Drop(DropReason.NO_VECTOR)
    assert store.backfill() == [unusable, unusable, unusable, Drop(DropReason.NO_METADATA)]
    assert store.markers() == []


def test_a_repair_that_fails_keeps_its_marker() -> None:
    store = TierStore(SMALL)
    store.insert("r0", axis(0), failing=("l1", "l2"))
    store.backfill(failing=("l1",))
    assert store.markers() == [("r0", "l1")]
    store.backfill()
    assert store.markers() == []


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 5))
def test_scores_of_every_answer_are_full_dot_products(seed: int, k: int) -> None:
    """spec 03.10"""
    rng = np.random.default_rng(seed)
    store = filled(*rng.normal(size=(6, 8)))
    query = store.points["r3"].vectors["l3"] + 0.2 * rng.normal(size=8)
    answer = store.search(query, k)
    u = tier_vector(query, 8)
    assert len(answer.hits) == k
    for name, score in answer.hits:
        assert score == pytest.approx(float(store.points[name].vectors["l3"] @ u), abs=1e-12)


def test_past_the_deadline_only_the_full_tier_is_asked() -> None:
    store = filled(axis(0))
    assert [row.tier for row in store.search(axis(0), 1, elapsed_ms=(50.0, 0.0, 0.0)).trace] == ["l3"]
    assert [row.tier for row in store.search(axis(7), 1, elapsed_ms=(0.0, 51.0, 0.0)).trace] == ["l1", "l3"]


def test_a_failing_tier_counts_as_empty() -> None:
    store = filled(axis(0))
    store.broken = {"l1"}
    answer = store.search(axis(0), 1)
    assert [(row.tier, row.best) for row in answer.trace] == [("l1", 0.0), ("l2", pytest.approx(1.0))]
    assert trace_tier(SMALL, "l1", [float("nan")], 0.0) == TierTrace("l1", 2, 0.0, 0.0, exited=False)


def test_a_model_without_prefixes_is_searched_in_full() -> None:
    assert (FULL_ONLY.names, FULL_ONLY.lower) == (("l3",), ())
    assert next_tier(FULL_ONLY, {"l1", "l2"}, [], 0.0) == "l3"


@pytest.mark.parametrize("cascade", CASCADES)
@settings(max_examples=200, deadline=None)
@given(
    counts=st.fixed_dictionaries({tier: st.integers(0, 3) for tier in ("l1", "l2", "l3")}),
    dirty=st.booleans(),
    best=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
)
def test_every_cascade_ends_and_never_asks_a_partial_tier(
    cascade: Cascade, counts: dict[str, int], dirty: bool, best: list[float]
) -> None:
    usable = usable_tiers(cascade, counts, dirty=dirty)
    trace: list[TierTrace] = []
    while tier := next_tier(cascade, usable, trace, 0.0):
        trace.append(trace_tier(cascade, tier, [best[len(trace)]], 0.0))
    assert 1 <= len(trace) <= 3
    assert [row.exited for row in trace] == [False] * (len(trace) - 1) + [True]
    assert all(counts[row.tier] == counts["l3"] and not dirty for row in trace[:-1])


@pytest.mark.parametrize(
    ("dims", "thresholds"),
    [((), ()), ((8, 4), (0.5,)), ((0, 4), (0.5,)), ((4, 8), ()), ((2, 4, 6, 8), (0.1, 0.1, 0.1)), ((4, 8), (1.5,))],
)
def test_impossible_cascades_are_refused(dims: tuple[int, ...], thresholds: tuple[float, ...]) -> None:
    with pytest.raises(Misconfigured):
        Cascade(dims, thresholds)
