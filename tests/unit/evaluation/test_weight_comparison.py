"""The comparison says honestly what fitted weights are worth where they never looked."""

from collections import Counter

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.evaluation.kind_weights import KindWeights
from lithify.evaluation.weight_comparison import assign_folds, fit_mixture, mix_signals, shares_of
from lithify.evaluation.weight_fit import RankedExample
from lithify.memory.ranking.relevance import RelevanceWeights, relevance

WIDTH = len(RelevanceWeights._fields)
DENSE, LEXICAL = 0, 1
SHIPPED = KindWeights.constant(RelevanceWeights())


def make(random: np.random.Generator, telling: int, conversation: str = "a", dataset: str = "set") -> RankedExample:
    signals = random.random((12, WIDTH))
    signals[:, telling] *= 0.3
    signals[0, telling] = 0.9
    return RankedExample(conversation, signals, np.arange(12) == 0, known=1, dataset=dataset)


def make_talks(telling: dict[str, int], dataset: str = "set") -> list[RankedExample]:
    random = np.random.default_rng(7)
    return [make(random, signal, name, dataset) for name, signal in telling.items() for _ in range(30)]


def make_conversations(count: int, dataset: str) -> list[RankedExample]:
    return make_talks(dict.fromkeys(map(str, range(count)), LEXICAL), dataset)


def test_what_holds_in_every_conversation_holds_where_it_was_not_learnt() -> None:
    row = fit_mixture(make_talks({"a": LEXICAL, "b": LEXICAL}), SHIPPED).sets["set"]
    assert row.mixture_in_sample["5"] > 0.95
    assert row.mixture_held_out["5"] > 0.95
    assert row.shipped["5"] < 0.8
    assert row.shipped_loss > 0.1


def test_what_holds_in_one_conversation_only_is_shown_by_the_held_out_figure() -> None:
    row = fit_mixture(make_talks({"a": LEXICAL, "b": LEXICAL + 1}), SHIPPED).sets["set"]
    assert row.mixture_held_out["5"] < row.mixture_in_sample["5"] - 0.1
    assert row.own_held_out is not None
    assert row.own_held_out["5"] < row.own_in_sample["5"] - 0.1


def test_a_data_set_of_its_own_kind_shows_what_the_mixture_costs_it() -> None:
    examples = [*make_talks({"a": DENSE, "b": DENSE}, "dense"), *make_talks({"a": LEXICAL, "b": LEXICAL}, "words")]
    sets = fit_mixture(examples, SHIPPED).sets
    assert sets["dense"].shipped_loss == pytest.approx(0.0, abs=0.01)
    assert sets["words"].shipped_loss > 0.1
    assert sets["words"].own_in_sample["1"] > sets["words"].mixture_in_sample["1"]
    assert (sets["words"].questions, sets["words"].conversations) == (60, 2)
    assert sum(sets["words"].shares) == pytest.approx(1.0)


def test_a_set_of_one_conversation_is_compared_with_its_own_sample() -> None:
    examples = [*make_talks({"a": LEXICAL}, "one"), *make_talks({"a": LEXICAL, "b": LEXICAL}, "two")]
    row = fit_mixture(examples, SHIPPED).sets["one"]
    assert row.own_held_out is None
    assert row.mixture_loss == pytest.approx(row.own_in_sample["10"] - row.mixture_held_out["10"])


def test_a_single_conversation_is_refused() -> None:
    with pytest.raises(Invalid, match="two conversations"):
        fit_mixture(make_talks({"a": LEXICAL}), SHIPPED)


def test_every_fold_holds_as_many_conversations_of_every_set() -> None:
    folds = assign_folds([*make_conversations(10, "ten"), *make_conversations(5, "five")])
    assert set(Counter(fold for (name, _), fold in folds.items() if name == "ten").values()) == {2}
    assert sorted(fold for (name, _), fold in folds.items() if name == "five") == [0, 1, 2, 3, 4]


def test_conversations_of_a_set_lie_in_different_folds_whatever_comes_before() -> None:
    folds = assign_folds([*make_conversations(3, "three"), *make_conversations(2, "two")])
    assert folds["two", "0"] != folds["two", "1"]


def test_scores_are_those_of_the_search() -> None:
    random = np.random.default_rng(5)
    signals = random.random((40, WIDTH)) * 1.4 - 0.2
    signals[random.random((40, WIDTH)) < 0.2] = np.nan
    weights = RelevanceWeights(*random.random(WIDTH)).normalise()
    assert mix_signals(signals, np.array(weights)) == pytest.approx(relevance(signals.T, weights))


def test_evidence_that_was_not_found_counts_against_the_recall() -> None:
    found = RankedExample("a", np.eye(WIDTH)[:2], np.array([True, False]), known=2)
    assert shares_of(found, SHIPPED) == [0.5, 0.5, 0.5]
    nothing = RankedExample("a", np.zeros((0, WIDTH)), np.zeros(0, dtype=np.bool_), known=1)
    assert shares_of(nothing, SHIPPED) == [0.0, 0.0, 0.0]
