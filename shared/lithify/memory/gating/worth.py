"""How likely a turn is worth keeping, by its embedding and its shape; learned from labelled turns.

A few hundred labels do not teach an embedding what a question, a request or a short plain fact is in every wording. So
the odds of what the words say, which were learned from turns of other languages, are multiplied with its own.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lithify.errors import Invalid
from lithify.memory.bounds import FloatArray
from lithify.memory.gating.patterns import fires
from lithify.memory.gating.spoken_evidence import read_evidence, weigh_evidence
from lithify.memory.languages import ENGLISH, detect_foreign, load_languages

# Of 0.3, 0.5 and 1 the one with the best precision for users it had not learned from (docs/gating.md).
RIDGE = 1.0
# How much surer the embedding is beside the words: of 1, 1.5 and 2 the one with the best precision (docs/gating.md).
SURENESS = 2.0
# Newton's method on a convex function: a handful are needed.
STEPS = 50
SETTLED = 1e-9

SHAPE = 4

# Labelled turns of another language from which on what was learned knows it.
ENOUGH = 20

# A system prompt that is said again talks about the model and its orders.
_TO_THE_MODEL = re.compile(
    r"\b(?:you are|your|assistant|agent|ai|user|instructions?|respond|reply|system|tools?)\b", re.IGNORECASE
)


def text_shape(text: str) -> tuple[float, ...]:
    """Measures length, asking, pasting and prompting, which an embedding hardly shows. Each is about 1 at most."""
    length = min(math.log1p(len(text.split())) / 3, 1.5)
    seen = ("?" in text, "\n" in text.strip(), fires(_TO_THE_MODEL, text))
    return length, *map(float, seen)


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """A logistic model of one embedding family has a weight for each dimension, then for the shape, then the bias."""

    family: str
    weights: FloatArray
    languages: frozenset[str] = frozenset({ENGLISH})  # those it was learned from
    hears_words: bool = False  # what the words say counts beside it; not for what earlier versions have learned

    @property
    def source(self) -> str:
        """Returns what a decision by it is said to go by."""
        return "worth+words" if self.hears_words else "worth"

    def __call__(self, text: str, vector: npt.ArrayLike) -> float:
        features = _features([text], np.asarray(vector, np.float64)[np.newaxis, :])
        if features.shape[1] != self.weights.size:
            raise Invalid(f"what was learned for {self.family} does not fit vectors of {features.shape[1]} features")
        learned = float((features @ self.weights)[0])
        odds = _join_words(text, learned) if self.hears_words else learned
        return float(_logistic(np.array([odds]))[0])


def learn_worth(family: str, texts: Sequence[str], vectors: npt.ArrayLike, useful: Sequence[bool]) -> Worth:
    """Learns one and the same model from the same labels. Raises Invalid unless some turns are useful and some not."""
    if len(set(useful)) < 2:
        raise Invalid("to learn what is worth keeping, both turns to keep and turns to leave are needed")
    rows = np.asarray(vectors, np.float64)
    # The penalty must not depend on how much of its vectors a model spends on what all texts have in common.
    spread = math.sqrt(float(rows.var(axis=0).sum())) or 1.0
    features = _features(texts, rows / spread)
    wanted = np.asarray(useful, np.float64)
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        step = _newton_step(features, wanted, weights)
        weights -= step
        if np.abs(step).max() < SETTLED:
            break
    weights[: rows.shape[1]] /= spread
    return Worth(family, weights, _find_learned(texts), hears_words=True)


def _join_words(text: str, learned: float) -> float:
    """Returns the log odds by the embedding and by the words.

    To an embedding a request or a log sounds like what it is about, so it never speaks for what asks or was pasted.
    """
    evidence = read_evidence(text, detect_foreign(text) or load_languages()[ENGLISH])
    if evidence is None:
        return learned
    is_about = evidence.asks or evidence.begs or evidence.pasted
    own = min(learned, 0.0) if is_about else learned
    return SURENESS * own + weigh_evidence(evidence)


def _find_learned(texts: Sequence[str]) -> frozenset[str]:
    counts = Counter(language.code for text in texts if (language := detect_foreign(text)) is not None)
    return frozenset({ENGLISH, *(code for code, count in counts.items() if count >= ENOUGH)})


def _newton_step(features: FloatArray, wanted: FloatArray, weights: FloatArray) -> FloatArray:
    likely = _logistic(features @ weights)
    slope = features.T @ (likely - wanted) + RIDGE * weights
    curvature = (features * (likely * (1 - likely))[:, np.newaxis]).T @ features + RIDGE * np.eye(weights.size)
    step: FloatArray = np.linalg.solve(curvature, slope).astype(np.float64)
    return step


def _features(texts: Sequence[str], vectors: FloatArray) -> FloatArray:
    shapes = np.array([text_shape(text) for text in texts], np.float64).reshape(len(texts), SHAPE)
    return np.hstack([vectors, shapes, np.ones((len(texts), 1))])


def _logistic(values: FloatArray) -> FloatArray:
    # Beyond 40 the result is 0 or 1 in double precision anyway, and exp would overflow.
    positive: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(values, -40.0, 40.0)))
    return positive
