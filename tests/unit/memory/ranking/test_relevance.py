"""Signals and their convex mix (spec 08)."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.profile import SEED, Profile
from lithify.memory.ranking.relevance import (
    SIGNAL_NAMES,
    RelevanceWeights,
    Signals,
    relevance,
    scale_by_maximum,
    signals_from_columns,
    tell_kind,
)
from lithify.memory.ranking.scoring import score_hybrid
from tests.unit.memory.candidate_samples import NOW, PROFILES, wild_numbers


def relevance_of(signals: Sequence[float], weights: RelevanceWeights) -> float:
    return float(relevance([[signal] for signal in signals], weights)[0])


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=200, deadline=None)
@given(signals=st.tuples(*[wild_numbers() | st.floats(-1, 1)] * len(RelevanceWeights._fields)))
def test_relevance_is_convex_in_its_signals(profile: Profile, signals: tuple[float, ...]) -> None:
    mixed = relevance_of(signals, profile.relevance)
    clean = [min(max(s, 0.0), 1.0) if math.isfinite(s) else 0.0 for s in signals if not math.isnan(s)]
    assert min(clean, default=0.0) - 1e-12 <= mixed <= max(clean, default=0.0) + 1e-12
    assert 0.0 <= mixed <= 1.0


# They decide what is shown, not in which order.
ABSOLUTE = {"cosine", "coverage", "answerable", "helpful"}


def test_relevance_of_the_seed_is_the_bare_cosine() -> None:
    others = [1.0] * (len(RelevanceWeights._fields) - 1)
    assert relevance_of([0.37, *others], SEED.relevance) == 0.37
    assert relevance_of([-0.37, *others], SEED.relevance) == 0.0
    assert relevance_of([math.nan, *others], SEED.relevance) == 0.0
    assert RelevanceWeights(*[0.0] * len(RelevanceWeights._fields)).normalise() == RelevanceWeights()


def test_a_signal_a_record_cannot_have_leaves_its_weight_to_the_others() -> None:
    weights = RelevanceWeights(dense=0.5, lexical=0.25, session=0.25)
    known, unknown = [0.8, 0.2, 0.0, 0.0, 0.6], [0.8, 0.2, 0.0, 0.0, math.nan]
    rest = [0.0] * (len(weights) - 5)
    assert relevance_of([*known, *rest], weights) == pytest.approx(0.6)
    assert relevance_of([*unknown, *rest], weights) == pytest.approx((0.5 * 0.8 + 0.25 * 0.2) / 0.75)


@pytest.mark.parametrize("name", RelevanceWeights._fields)
def test_every_signal_of_a_candidate_reaches_its_weight(name: str) -> None:
    weights = RelevanceWeights(**{**dict.fromkeys(RelevanceWeights._fields, 0.0), name: 1.0})
    memory = Candidate("r", "", Scope.USER, Kind.TURN, Signals(**{name: 0.7}))
    [row] = score_hybrid([memory], replace(SEED, relevance=weights), NOW)
    assert row.relevance == 0.7


def test_every_signal_that_orders_has_a_weight() -> None:
    assert set(SIGNAL_NAMES) - set(RelevanceWeights._fields) == {
        "neighbours",
        "dialogue",
        "long_turns",
        "foreign",
        *ABSOLUTE,
    }
    assert set(RelevanceWeights._fields) <= set(SIGNAL_NAMES)


def test_signals_are_built_from_columns_by_name() -> None:
    columns: dict[str, list[float | None]] = {name: [float(n), None] for n, name in enumerate(SIGNAL_NAMES)}
    first, second = signals_from_columns(dict(reversed(columns.items())))
    assert first.by_name() == {name: float(n) for n, name in enumerate(SIGNAL_NAMES)}
    assert set(second.by_name().values()) == {None}
    with pytest.raises(KeyError, match="dated"):
        signals_from_columns({name: column for name, column in columns.items() if name != "dated"})


def test_scores_are_spread_by_the_maximum_of_their_list() -> None:
    assert scale_by_maximum([2.0, 4.0, -1.0, math.nan]).tolist() == [0.5, 1.0, 0.0, 0.0]
    assert scale_by_maximum([0.6, 0.8, 0.7], floor=0.6) == pytest.approx([0.0, 1.0, 0.5])
    assert scale_by_maximum([]).tolist() == []
    assert scale_by_maximum([-3.0, 0.0]).tolist() == [0.0, 0.0]
    assert scale_by_maximum([0.6, 0.6], floor=0.6).tolist() == [0.0, 0.0]


def test_names_and_lengths_tell_the_kind_of_talk() -> None:
    assert tell_kind([20.0, 30.0], [True, True]) == (0.0, 0.0)
    assert tell_kind([20.0, 30.0], [False, False]) == (1.0, 0.0)
    assert tell_kind([400.0, 600.0], [False, False]) == (1.0, 1.0)
    assert tuple(tell_kind([90.0, 90.0], [True, False])) == pytest.approx((0.5, 0.5), abs=0.01)
    assert tell_kind([], []) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("dialogue", "long_turns", "expected"),
    [(0.0, 0.0, 0.2), (0.0, 1.0, 0.2), (1.0, 0.0, 0.4), (1.0, 1.0, 0.8), (0.5, 0.0, 0.3), (1.0, 0.5, 0.6)],
)
def test_the_kind_of_talk_decides_among_three_sets_of_weights(
    dialogue: float, long_turns: float, expected: float
) -> None:
    words, session = (RelevanceWeights(dense=0.0)._replace(**{name: 1.0}) for name in ("lexical", "session"))
    profile = replace(SEED, chat_relevance=session, dialogue_relevance=words)
    signals = Signals(dense=0.2, lexical=0.8, session=0.4, dialogue=dialogue, long_turns=long_turns)
    [row] = score_hybrid([Candidate("m", "", Scope.USER, Kind.TURN, signals)], profile, NOW)
    assert row.relevance == pytest.approx(expected)


def test_words_take_over_where_the_model_does_not_read_the_language() -> None:
    profile = replace(SEED, relevance=RelevanceWeights(dense=0.9, lexical=0.1))
    understood, foreign = (Signals(dense=1.0, lexical=0.0, foreign=share) for share in (0.0, 1.0))
    scored = [
        score_hybrid([Candidate("m", "", Scope.USER, Kind.TURN, one)], profile, NOW) for one in (understood, foreign)
    ]
    assert [row.relevance for [row] in scored] == pytest.approx([0.9, 0.54])
