"""The level at which a model keeps unrelated texts, and thresholds that mean the same above every level."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lithify.memory.vectors.background import USUAL, from_usual, measure_background, relatedness, to_usual

levels = st.floats(-0.2, 0.95)
cosines = st.floats(-1.0, 1.0)


@given(cosines, levels)
def test_moving_a_cosine_there_and_back_changes_nothing(cosine: float, background: float) -> None:
    assert from_usual(to_usual(cosine, background), background) == pytest.approx(cosine, abs=1e-9)


@given(levels)
def test_unrelated_texts_stand_at_the_usual_level_and_identical_ones_at_one(background: float) -> None:
    assert to_usual(background, background) == pytest.approx(USUAL)
    assert to_usual(1.0, background) == pytest.approx(1.0)


@given(cosines)
def test_a_model_at_the_usual_level_keeps_its_cosines(cosine: float) -> None:
    assert to_usual(cosine, USUAL) == pytest.approx(cosine, abs=1e-9)


def test_a_space_without_spread_tells_nothing_apart() -> None:
    assert relatedness(1.0, 1.0) == 0.0


def test_documents_and_questions_have_levels_of_their_own() -> None:
    documents = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    questions = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    measured = measure_background(documents, questions)
    assert measured == pytest.approx((0.5, 0.0), abs=1e-6)
