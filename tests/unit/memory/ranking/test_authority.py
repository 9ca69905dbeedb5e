"""What a memory counts apart from the query (specs 02 and 08)."""

import math
from dataclasses import replace

import pytest

from lithify.memory.ranking.authority import AuthorityWeights, authored_value, authority_weight, frequency, quality
from lithify.memory.ranking.profile import SEED


def test_quality_of_a_worthless_summary_is_zero_at_full_weight() -> None:
    assert float(quality(1.0, 1.0)) == 0.0
    assert float(quality(1.0, 0.0)) == 1.0


def test_authority_weights_of_zero_fall_back_to_their_own_defaults() -> None:
    """spec 08.13"""
    assert AuthorityWeights(0, 0, 0).normalise() == (0.5, 0.2, 0.3)
    assert replace(SEED, authority=AuthorityWeights(-1, 0, math.nan)).normalise().authority == (0.0, 0.0, 1.0)


def test_a_stale_maximum_never_lifts_frequency_above_one() -> None:
    assert float(frequency([50.0], 3.0)[0]) < 1.0
    assert frequency([-4.0, math.inf], math.nan).tolist() == [0.0, 0.0]


def test_declared_authority_comes_before_authorship() -> None:
    assert authored_value([0.4, 7.0, None, None, math.nan], [1, 0, 1, 0, 1]).tolist() == [0.4, 1.0, 1.0, 0.0, 1.0]


def test_authority_weight_is_a_mean_of_its_parts() -> None:
    assert float(authority_weight(1.0, 0.0, 1.0, AuthorityWeights())) == pytest.approx(0.8)
