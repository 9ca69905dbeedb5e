"""The calibration finds what tells own from foreign and evidence from the rest, and says what it is worth elsewhere."""

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.evaluation.calibration_fit import (
    JudgedExample,
    chances_of,
    fit_calibration,
    fit_calibration_across,
    fit_logistic,
)
from lithify.memory.ranking.helpfulness import MemoryEvidence

RECORDS = 12


def make_judged(
    random: np.random.Generator, dataset: str, conversation: str, *, own: bool, level: float = 0.0
) -> JudgedExample:
    """Own memories are nearer, the more so by the evidence; large ones are nearer to everything."""
    size = int(np.exp(random.uniform(2, 8)))
    cosines = level + random.normal(0.1 + 0.02 * np.log(size), 0.05, RECORDS)
    coverage = random.uniform(0.0, 0.4, RECORDS)
    is_evidence = np.zeros(RECORDS, dtype=np.bool_)
    if own:
        is_evidence[0] = True
        cosines[0] += 0.35
        coverage[0] += 0.4
    memory = MemoryEvidence(float(cosines.max()), float(coverage.max()), size)
    tokens = np.full(RECORDS, 20.0)
    return JudgedExample(
        dataset=dataset,
        conversation=conversation,
        is_own=own,
        memory=memory,
        cosines=cosines,
        coverage=coverage,
        is_evidence=is_evidence,
        tokens=tokens,
    )


def make_examples(level: float = 0.0, seed: int = 3) -> list[JudgedExample]:
    random = np.random.default_rng(seed)
    return [
        make_judged(random, dataset, conversation, own=own, level=level)
        for dataset in ("one", "two")
        for conversation in "abc"
        for own in (True, False)
        for _ in range(30)
    ]


def test_nearness_and_words_speak_for_a_memory_and_size_against_it() -> None:
    calibration = fit_calibration(make_examples())
    near, words, crowd, _ = calibration.answerable
    assert near > 0.0 < words
    assert crowd < 0.0
    assert min(calibration.helpful[:2]) > 0.0


def test_the_level_of_a_models_cosines_does_not_matter() -> None:
    low = make_examples()
    high = make_examples(level=0.5)
    judged = [np.concatenate([chances_of(e, fit_calibration(rows)) for e in rows]) for rows in (low, high)]
    assert judged[0] == pytest.approx(judged[1], abs=0.02)


def test_the_same_examples_give_the_same_constants() -> None:
    assert fit_calibration(make_examples()) == fit_calibration(make_examples())


def test_a_large_set_weighs_no_more_than_a_small_one() -> None:
    random = np.random.default_rng(5)
    examples = make_examples()
    more = [make_judged(random, "one", "a", own=own) for own in (True, False) for _ in range(300)]
    few = fit_calibration([e for e in examples if e.dataset == "two"] + more[::10])
    many = fit_calibration([e for e in examples if e.dataset == "two"] + more)
    assert many.answerable == pytest.approx(few.answerable, rel=0.6)


def test_foreign_questions_are_told_apart_where_nothing_was_fitted() -> None:
    found = fit_calibration_across(make_examples())
    for figures in (found.in_sample, found.by_conversation, found.by_dataset):
        assert set(figures) == {"one", "two"}
        for rows in figures.values():
            assert rows["0.1"].evidence > 0.95
            assert rows["0.1"].foreign_tokens < 0.3
            assert rows["0.1"].own_tokens >= rows["0.5"].own_tokens
    assert found.calibration == fit_calibration(make_examples())


def test_one_set_alone_leaves_none_out() -> None:
    assert fit_calibration_across([e for e in make_examples() if e.dataset == "one"]).by_dataset == {}


def test_only_own_questions_are_refused() -> None:
    with pytest.raises(Invalid, match="others'"):
        fit_calibration([example for example in make_examples() if example.is_own])


def test_a_feature_that_never_varies_gets_no_slope() -> None:
    features = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.2], [1.0, 0.9]])
    constant, telling, _ = fit_logistic(features, np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    assert constant == 0.0
    assert telling > 0.0
