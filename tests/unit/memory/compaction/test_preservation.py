"""Faithfulness in the retrieval space: measure, gate, confidence, decay."""

from math import nextafter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.compaction.extractive import extract
from lithify.memory.compaction.preservation import (
    EXTRACTIVE,
    decay_rate,
    final_confidence,
    measure,
    preservation,
    preserves,
)
from lithify.memory.ranking.authority import quality


def test_measures_of_a_one_sided_summary() -> None:
    """spec 05.3"""
    measured = measure([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    assert measured.align == pytest.approx(0.7071068, abs=1e-6)
    assert measured.cover == pytest.approx(0.5, abs=1e-6)
    assert measured.conf_embed == pytest.approx(0.6035534, abs=1e-6)


def test_cover_counts_opposed_turns_as_uncovered() -> None:
    measured = measure([[1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]])
    assert (measured.align, measured.cover) == (0.0, 0.5)


def test_gate_admits_exactly_its_threshold() -> None:
    """spec 05.5"""
    assert preserves("t5", preservation(0.65, 0.0))
    assert not preserves("t5", preservation(0.65 - 1e-9, 1.0))
    assert not preserves("t5", preservation(nextafter(0.65, 0), 1.0))


def test_gate_holds_for_every_method_that_writes_its_own_text() -> None:
    """X28: unmeasured text is never accepted, extracts always are."""
    low = preservation(0.1, 0.1)
    assert not preserves("some-other-backend", low)
    assert not preserves("t5", None)
    assert preserves(EXTRACTIVE, low)


def test_confidence_blends_the_decoder_in() -> None:
    """spec 05.6"""
    confidence = final_confidence("t5", 0.8, 0.9)
    assert confidence == pytest.approx(0.82, abs=1e-6)
    assert decay_rate(confidence) == pytest.approx(0.18, abs=1e-6)
    assert float(quality(decay_rate=decay_rate(confidence))) == pytest.approx(0.91, abs=1e-6)
    assert final_confidence("t5", 1.0, 0.9) == pytest.approx(0.98, abs=1e-6)
    assert final_confidence(EXTRACTIVE, 0.8, 0.9) == 0.8


@pytest.mark.parametrize(
    ("decoder", "align", "cover", "confidence"),
    [
        (0.8501, 0.9183, 0.8342, 0.8710),
        (0.5240, 0.8099, 0.7327, 0.7218),
        (0.8540, 0.8579, 0.7440, 0.8116),
    ],
)
def test_published_confidences(decoder: float, align: float, cover: float, confidence: float) -> None:
    """spec 05.6, with the figures of the evaluation notes, which are printed to four places."""
    blended = final_confidence("t5", preservation(align, cover).conf_embed, decoder)
    assert blended == pytest.approx(confidence, abs=5.1e-5)


FLOATS = st.floats(allow_nan=True, allow_infinity=True) | st.just(0.0)
VECTOR = st.tuples(FLOATS, FLOATS, FLOATS)


@settings(max_examples=200)
@given(VECTOR, st.lists(VECTOR, min_size=1, max_size=6), FLOATS, st.sampled_from([EXTRACTIVE, "t5"]))
def test_confidence_decay_and_quality_stay_in_bounds(
    summary: tuple[float, ...], turns: list[tuple[float, ...]], decoder: float, method: str
) -> None:
    """spec 05.18"""
    measured = measure(np.array([summary]), np.array(turns))
    confidence = final_confidence(method, measured.conf_embed, decoder)
    assert -1.0 <= measured.align <= 1.0
    assert 0.0 <= measured.cover <= 1.0
    assert 0.0 <= confidence <= 1.0
    assert 0.0 <= decay_rate(confidence) <= 1.0
    assert 0.5 <= float(quality(decay_rate=decay_rate(confidence))) <= 1.0


def test_all_zero_vectors_give_zero_confidence() -> None:
    """spec 05.18"""
    measured = measure(np.zeros((1, 3)), np.zeros((4, 3)))
    assert (measured.align, measured.cover, measured.conf_embed) == (0.0, 0.0, 0.0)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=6), st.floats(1e-300, 1e300))
def test_length_of_the_vectors_changes_nothing(rows: list[tuple[float, float]], factor: float) -> None:
    matrix = np.array(rows)
    matrix[np.abs(matrix) < 1e-3] = 0.0  # or the factor itself would underflow
    summary = matrix[:1]
    assert measure(summary * factor, matrix * factor).conf_embed == pytest.approx(
        measure(summary, matrix).conf_embed, abs=1e-9
    )
    assert extract(["t"] * len(rows), matrix * factor).confidence == pytest.approx(
        extract(["t"] * len(rows), matrix).confidence, abs=1e-9
    )


@settings(max_examples=200)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([EXTRACTIVE, "t5"]))
def test_more_preservation_never_lowers_quality(low: float, high: float, decoder: float, method: str) -> None:
    low, high = sorted((low, high))
    ranks = [float(quality(decay_rate=decay_rate(final_confidence(method, x, decoder)))) for x in (low, high)]
    assert ranks[0] <= ranks[1]
