"""The fit finds what separates evidence from the rest, by kind of conversation where the data insist."""

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import EvidenceQuestion
from lithify.evaluation.fitting import make_example
from lithify.evaluation.kind_weights import KindWeights
from lithify.evaluation.weight_fit import (
    ExampleStack,
    RankedExample,
    fit_weights,
    gradient,
    loss,
    stack_examples,
    weigh_questions,
)
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.relevance import RelevanceWeights, Signals

WIDTH = 4
NO_FACTS = np.zeros(0)
TELLING = 1


def make(
    random: np.random.Generator, telling: int = TELLING, dataset: str = "", facts: tuple[float, ...] = ()
) -> RankedExample:
    """One evidence turn that is told from eleven others by one signal; the other signals are noise."""
    signals = random.random((12, WIDTH))
    signals[:, telling] *= 0.3
    signals[0, telling] = 0.9
    return RankedExample("a", signals, np.arange(12) == 0, known=1, dataset=dataset, facts=np.array(facts))


def make_many(count: int, seed: int = 7, telling: int = TELLING, dataset: str = "") -> list[RankedExample]:
    random = np.random.default_rng(seed)
    return [make(random, telling, dataset) for _ in range(count)]


def two_kinds(count: int) -> Iterator[RankedExample]:
    """Two kinds of conversation, told by the first fact, each with a telling signal of its own."""
    random = np.random.default_rng(3)
    for _ in range(count):
        yield make(random, telling=0, facts=(5.0, 1.0))
        yield make(random, telling=1, facts=(2.0, 1.0))


def test_the_telling_signal_gets_most_of_the_weight() -> None:
    shares = fit_weights(make_many(60)).effective(NO_FACTS)
    assert shares[TELLING] > 0.8
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= 0.0


def test_the_same_examples_give_the_same_weights() -> None:
    assert fit_weights(make_many(30)) == fit_weights(make_many(30))


def test_questions_without_evidence_among_their_candidates_do_not_disturb_the_fit() -> None:
    lost = RankedExample("a", np.ones((3, WIDTH)), np.zeros(3, dtype=np.bool_), known=2)
    assert fit_weights([*make_many(30), lost]) == fit_weights(make_many(30))
    with pytest.raises(Invalid, match="evidence among what was found"):
        fit_weights([lost])


def test_each_kind_gets_weights_of_its_own_where_the_data_insist() -> None:
    weights = fit_weights(list(two_kinds(40)))
    assert weights.effective((5.0, 1.0))[0] > 0.7
    assert weights.effective((2.0, 1.0))[1] > 0.7


def test_kinds_share_their_weights_where_unlikeness_is_dear() -> None:
    weights = fit_weights(list(two_kinds(40)), kind_shrinkage=1e3)
    assert weights.effective((5.0, 1.0)) == pytest.approx(weights.effective((2.0, 1.0)), abs=0.01)


def test_a_fact_that_never_varies_decides_nothing() -> None:
    weights = fit_weights(list(two_kinds(10)))
    assert [row[1] for row in weights.by_fact] == [0.0] * WIDTH
    assert weights.effective((5.0, 1.0)) == pytest.approx(weights.effective((5.0, 9.0)))


def test_rows_of_facts_give_the_shares_of_each() -> None:
    weights = fit_weights(list(two_kinds(10)))
    both = weights.effective([(5.0, 1.0), (2.0, 1.0)])
    assert both[1] == pytest.approx(weights.effective((2.0, 1.0)))


def test_constant_weights_are_the_shares_they_were_made_of() -> None:
    assert KindWeights.constant((0.25, 0.75, 0.0), facts=2).effective((3.0, 4.0)) == pytest.approx([0.25, 0.75, 0.0])


def test_a_small_data_set_weighs_as_much_as_a_large_one() -> None:
    large = make_many(60, telling=0, dataset="large")
    small = make_many(6, telling=1, dataset="small", seed=8)
    assert weigh_questions([*large, *small])[-6:].sum() == pytest.approx(0.5)
    apart = fit_weights([*large, *small]).effective(NO_FACTS)
    together = fit_weights([replace(example, dataset="") for example in [*large, *small]]).effective(NO_FACTS)
    assert apart[1] > together[1] + 0.03


def test_a_signal_that_a_candidate_cannot_have_teaches_nothing_about_it() -> None:
    """Evidence lacks a signal that is noise elsewhere: taken for 0, it would seem to tell that it is no evidence."""
    examples = make_many(60)
    for example in examples:
        example.signals[0, 3] = np.nan
    zeros = [replace(example, signals=np.nan_to_num(example.signals)) for example in examples]
    lacking = fit_weights(examples).effective(NO_FACTS)
    assert np.isfinite(lacking).all()
    assert lacking[TELLING] > 0.7
    assert lacking[3] >= fit_weights(zeros).effective(NO_FACTS)[3]


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    examples = list(two_kinds(5))
    examples[0].signals[::3, 2] = np.nan
    facts = np.stack([example.facts for example in examples])
    sharpness = np.linspace(0.5, 2.0, len(examples))
    small = stack_examples(examples, facts, weigh_questions(examples), sharpness)
    stack = ExampleStack(*(getattr(small, part.name).astype(np.float64) for part in fields(small)))
    point = np.random.default_rng(1).normal(size=(WIDTH, 3))
    found = gradient(point, stack, 0.1)  # type: ignore[arg-type]  # whole floats, to tell slopes exactly
    for place in np.ndindex(point.shape):
        step = np.zeros_like(point)
        step[place] = 1e-5
        rise = loss(point + step, stack, 0.1) - loss(point - step, stack, 0.1)  # type: ignore[arg-type]  # as above
        assert found[place] == pytest.approx(rise / 2e-5, abs=1e-7)


def test_an_example_holds_the_signals_of_turns_only() -> None:
    question = EvidenceQuestion("q", "a", "where?", "facts", frozenset({"e1", "e9"}), frozenset({"s"}), now=1)
    turn = Candidate("1", "x", Scope.HISTORY, Kind.TURN, Signals(dense=0.5), source_turn="e1")
    copy = Candidate("2", "x", Scope.USER, Kind.MEMORY, Signals(dense=0.9), source_turn="e1")
    made = make_example("set", question, [turn, copy])
    assert made.signals[:, 0].tolist() == [0.5]
    assert (made.is_evidence.tolist(), made.known, made.dataset) == ([True], 2, "set")
    assert np.isnan(made.signals[0, RelevanceWeights._fields.index("session")])
