"""The fit finds what separates evidence from the rest, and says honestly what it is worth elsewhere."""

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.evaluation.datasets import EvidenceQuestion
from lithify.evaluation.fitting import make_example
from lithify.evaluation.weight_fit import RankedExample, fit_across, fit_weights, shares_of
from lithify.memory.ranking.candidate import Candidate, Kind, Scope
from lithify.memory.ranking.relevance import RelevanceWeights, Signals

WIDTH = len(RelevanceWeights._fields)
LEXICAL = RelevanceWeights._fields.index("lexical")


def made(
    random: np.random.Generator, conversation: str = "a", telling: int = LEXICAL, candidates: int = 12
) -> RankedExample:
    """One evidence turn that is told from the others by one signal; the others are noise."""
    signals = random.random((candidates, WIDTH))
    signals[:, telling] *= 0.3
    signals[0, telling] = 0.9
    return RankedExample(conversation, signals, np.arange(candidates) == 0, known=1)


def examples(telling: tuple[int, int] = (LEXICAL, LEXICAL), seed: int = 7) -> list[RankedExample]:
    random = np.random.default_rng(seed)
    return [made(random, name, signal) for name, signal in zip("ab", telling, strict=True) for _ in range(30)]


def test_the_telling_signal_gets_most_of_the_weight() -> None:
    weights = fit_weights(examples())
    assert weights.lexical > 0.5
    assert sum(weights) == pytest.approx(1.0)
    assert min(weights) >= 0.0


def test_the_same_examples_give_the_same_weights() -> None:
    assert fit_weights(examples()) == fit_weights(examples())


def test_questions_without_evidence_among_their_candidates_do_not_disturb_the_fit() -> None:
    lost = RankedExample("a", np.ones((3, WIDTH)), np.zeros(3, dtype=np.bool_), known=2)
    assert fit_weights([*examples(), lost]) == fit_weights(examples())


def test_what_holds_in_every_conversation_holds_where_it_was_not_learnt() -> None:
    fit = fit_across(examples(), RelevanceWeights())
    assert fit.in_sample["5"] > 0.95
    assert fit.held_out["5"] > 0.95
    assert fit.shipped["5"] < 0.8
    assert set(fit.by_conversation) == {"a", "b"}


def test_what_holds_in_one_conversation_only_is_shown_by_the_held_out_figure() -> None:
    fit = fit_across(examples(telling=(LEXICAL, LEXICAL + 1)), RelevanceWeights())
    assert fit.held_out["5"] < fit.in_sample["5"] - 0.1


def test_a_single_conversation_is_refused() -> None:
    with pytest.raises(Invalid, match="two conversations"):
        fit_across(examples()[:30], RelevanceWeights())


def test_evidence_that_was_not_found_counts_against_the_recall() -> None:
    found = RankedExample("a", np.eye(WIDTH)[:2], np.array([True, False]), known=2)
    assert shares_of(found, RelevanceWeights()) == [0.5, 0.5, 0.5]
    nothing = RankedExample("a", np.zeros((0, WIDTH)), np.zeros(0, dtype=np.bool_), known=1)
    assert shares_of(nothing, RelevanceWeights()) == [0.0, 0.0, 0.0]


def test_an_example_holds_the_signals_of_turns_only() -> None:
    question = EvidenceQuestion("q", "a", "where?", "facts", frozenset({"e1", "e9"}), frozenset({"s"}), now=1)
    turn = Candidate("1", "x", Scope.HISTORY, Kind.TURN, Signals(dense=0.5), source_turn="e1")
    copy = Candidate("2", "x", Scope.USER, Kind.MEMORY, Signals(dense=0.9), source_turn="e1")
    made = make_example(question, [turn, copy])
    assert made.signals[:, 0].tolist() == [0.5]
    assert (made.is_evidence.tolist(), made.known) == ([True], 2)
