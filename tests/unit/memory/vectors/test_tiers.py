"""Spec 03: tier vectors and windows."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.errors import Invalid, Misconfigured
from lithify.memory.vectors.tiers import mean_vector, tier_vector, tier_vectors, window_spans

DIMS = (64, 256, 768)


PROFILE_DIMS = (DIMS, (64, 128, 384), (64, 192, 384))


def spread(values: list[float], size: int = 768) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values + [0.0] * (size - len(values)))


def test_prefixes_are_divided_by_the_regularised_norm() -> None:
    """spec 03.1"""
    first = tier_vector(spread([3.0, 4.0]), 64)
    assert first == pytest.approx([0.6, 0.8] + [0.0] * 62, abs=1e-12)
    assert all(not tier.any() for tier in tier_vectors(np.zeros(768), DIMS))
    assert np.linalg.norm(tier_vector(spread([1e-8]), 64)) == pytest.approx(0.70710678, abs=1e-8)
    assert np.linalg.norm(tier_vector(spread([1e-9]), 64)) == pytest.approx(0.09950372, abs=1e-8)


def test_short_vectors_have_no_tiers() -> None:
    """spec 03.2 (refusal)"""
    with pytest.raises(Invalid, match="700 components"):
        tier_vectors(np.ones(700), DIMS)
    with pytest.raises(Invalid, match="700 components"):
        tier_vector(np.ones((3, 700)), 768)
    with pytest.raises(Invalid, match="0 components"):
        tier_vector(1.0, 64)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e39])
def test_vectors_that_are_not_float32_numbers_are_refused(value: float) -> None:
    with pytest.raises(Invalid, match="float32"):
        tier_vector(spread([value]), 64)


@pytest.mark.parametrize("dims", PROFILE_DIMS)
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from((1.0, 1e-3, 1e6)))
def test_every_tier_of_an_ordinary_vector_has_unit_length(dims: tuple[int, ...], seed: int, scale: float) -> None:
    """spec 03.2 (norms)"""
    vector = np.random.default_rng(seed).normal(size=dims[-1])
    tiers = tier_vectors(scale * vector / np.linalg.norm(vector), dims)
    assert [tier.shape[0] for tier in tiers] == list(dims)
    assert all(abs(np.linalg.norm(tier) - 1.0) < 1e-5 for tier in tiers)
    assert all(np.linalg.norm(tier) <= 1.0 + 1e-15 for tier in tiers)


def test_a_batch_has_the_tiers_of_its_rows() -> None:
    batch = np.random.default_rng(5).normal(size=(7, 384)).astype(np.float32)
    tiers = tier_vectors(batch, (64, 128, 384))
    for row, vector in enumerate(batch):
        for tier, dims in zip(tiers, (64, 128, 384), strict=True):
            assert tier[row] == pytest.approx(tier_vector(vector, dims), abs=1e-15)


@pytest.mark.parametrize(
    ("tokens", "spans"),
    [
        (0, []),
        (1, [(0, 1)]),
        (512, [(0, 512)]),
        (513, [(0, 512), (256, 513)]),
        (768, [(0, 512), (256, 768)]),
        (769, [(0, 512), (256, 768), (512, 769)]),
        (1024, [(0, 512), (256, 768), (512, 1024)]),
        (1025, [(0, 512), (256, 768), (512, 1024), (768, 1025)]),
    ],
)
def test_windows_overlap_and_reach_the_end(tokens: int, spans: list[tuple[int, int]]) -> None:
    """spec 03.11 (windows)"""
    assert window_spans(tokens, 512, 256) == spans


@settings(max_examples=200, deadline=None)
@given(tokens=st.integers(1, 3000), size=st.integers(1, 600), overlap=st.integers(0, 599))
def test_windows_cover_every_token_without_a_superfluous_one(tokens: int, size: int, overlap: int) -> None:
    if overlap >= size:
        with pytest.raises(Misconfigured, match="overlap"):
            window_spans(tokens, size, overlap)
        return
    spans = window_spans(tokens, size, overlap)
    assert spans[0][0] == 0
    assert spans[-1][1] == tokens
    assert all(0 < end - start <= size for start, end in spans)
    assert all(right[0] - left[0] == size - overlap and right[0] <= left[1] for left, right in pairwise(spans))
    assert all(end < tokens for _, end in spans[:-1])


def test_the_mean_of_windows_is_brought_back_to_unit_length() -> None:
    """spec 03.11 (mean)"""
    windows = np.eye(4)[:3]
    mean = mean_vector(windows)
    assert np.linalg.norm(mean) == pytest.approx(1.0, abs=1e-12)
    assert mean[:3] == pytest.approx([1 / math.sqrt(3)] * 3)
