"""Greedy decoding without any model."""

import math
from collections.abc import Sequence
from itertools import count

import numpy as np
import pytest

from lithify.errors import LithifyError
from lithify.summarising.graphs import Logits
from lithify.summarising.summariser import Cancelled, decode_greedily, log_probability

START, END = 0, 9
ENDS = frozenset({END})


def scripted(*steps: dict[int, float]) -> "Script":
    return Script([dict(step) for step in steps])


class Script:
    """Answers with the probabilities it was given, one table per step."""

    def __init__(self, steps: list[dict[int, float]]) -> None:
        self._steps = steps
        self.seen: list[list[int]] = []

    def __call__(self, written: Sequence[int]) -> Logits:
        self.seen.append(list(written))
        step = self._steps[len(self.seen) - 1]
        return np.log([step.get(token, 1e-12) for token in range(10)])


def test_the_likeliest_token_is_taken_until_the_end_token() -> None:
    script = scripted({4: 0.8, 5: 0.2}, {5: 0.5, 6: 0.4, 7: 0.1}, {END: 0.9, 4: 0.1})
    decoded = decode_greedily(script, START, ENDS, 64)
    assert decoded.tokens == (4, 5)
    assert script.seen == [[START], [START, 4], [START, 4, 5]]


def test_confidence_is_the_mean_over_emitted_tokens_without_the_end() -> None:
    script = scripted({4: 0.8, 5: 0.2}, {5: 0.5, 6: 0.4, 7: 0.1}, {END: 0.9, 4: 0.1})
    decoded = decode_greedily(script, START, ENDS, 64)
    assert decoded.confidence == pytest.approx(math.sqrt(0.8 * 0.5))


def test_writing_stops_at_the_limit() -> None:
    decoded = decode_greedily(scripted({4: 1.0}, {5: 1.0}, {6: 1.0}), START, ENDS, 2)
    assert decoded.tokens == (4, 5)


def test_any_of_several_end_tokens_ends() -> None:
    assert decode_greedily(scripted({4: 1.0}, {7: 1.0}), START, frozenset({7, END}), 64).tokens == (4,)


def test_an_end_before_the_first_token_is_an_error() -> None:
    with pytest.raises(LithifyError, match="wrote nothing"):
        decode_greedily(scripted({END: 1.0}), START, ENDS, 64)


def test_cancelling_stops_between_two_steps() -> None:
    script, asked = scripted({4: 1.0}, {5: 1.0}, {6: 1.0}), count()
    with pytest.raises(Cancelled):
        decode_greedily(script, START, ENDS, 64, lambda: next(asked) == 2)
    assert len(script.seen) == 2


def test_a_cancellation_is_not_an_ordinary_error() -> None:
    """An `except Exception` around an attempt must not take it for a failed one."""
    assert not issubclass(Cancelled, Exception)


def test_scores_beyond_what_an_exponential_holds_still_have_probabilities() -> None:
    assert log_probability(np.array([5000.0, 5000.0, -5000.0]), 0) == pytest.approx(math.log(0.5))
