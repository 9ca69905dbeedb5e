"""Compares fitted weights with the shipped ones on every data set, and tells what was only learnt by heart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lithify.errors import Invalid
from lithify.evaluation.kind_weights import KindWeights, SignalShares
from lithify.evaluation.weight_fit import KIND_SHRINKAGE, RankedExample, fit_weights
from lithify.memory.bounds import FloatArray

CUTS: Final = (1, 5, 10)
DECISIVE: Final = "10"  # the cut at which a loss is told
FOLDS: Final = 5

RecallByCut = dict[str, float]
"""Maps a cut to the mean share of a question's evidence among the first so many."""

ConversationKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SetComparison:
    """What one data set reaches by which weights; its own are fitted on it alone.

    Without a second conversation nothing of its own can be held out, and its own best is that of the sample.
    """

    questions: int
    conversations: int
    shares: tuple[float, ...]  # of the signals by the mixture, on average over the questions
    shipped: RecallByCut
    mixture_held_out: RecallByCut
    mixture_in_sample: RecallByCut
    own_held_out: RecallByCut | None
    own_in_sample: RecallByCut
    shipped_loss: float  # of the shipped weights against the own best
    mixture_loss: float  # of the mixture held out against the same


@dataclass(frozen=True, slots=True)
class MixtureFit:
    """The weights fitted on all data sets together, and the comparison for each of them."""

    weights: KindWeights
    sets: dict[str, SetComparison]


def fit_mixture(
    examples: Sequence[RankedExample], shipped: SignalShares, kind_shrinkage: float = KIND_SHRINKAGE
) -> MixtureFit:
    """Fits on all data sets and on each alone, with all conversations and with a fold of them held out in turn.

    Raises Invalid for a single conversation: nothing could be held out.
    """
    folds = assign_folds(examples)
    if len(folds) < 2:
        raise Invalid("a fit needs the questions of at least two conversations, to hold one out")
    mixture = fit_weights(examples, kind_shrinkage)
    held_out = hold_out(examples, folds, kind_shrinkage)
    names = dict.fromkeys(example.dataset for example in examples)
    sets = {}
    for name in names:
        places = [place for place, example in enumerate(examples) if example.dataset == name]
        own = [examples[place] for place in places]
        unseen = mean_recall([held_out[place] for place in places])
        sets[name] = compare_set(own, folds, shipped, mixture, unseen, kind_shrinkage)
    return MixtureFit(mixture, sets)


def compare_set(
    own: Sequence[RankedExample],
    folds: Mapping[ConversationKey, int],
    shipped: SignalShares,
    mixture: KindWeights,
    mixture_held_out: RecallByCut,
    kind_shrinkage: float,
) -> SetComparison:
    conversations = len({key_of(example) for example in own})
    own_in_sample = recall_by(own, fit_weights(own, kind_shrinkage))
    own_held_out = mean_recall(hold_out(own, folds, kind_shrinkage)) if conversations > 1 else None
    best = (own_held_out or own_in_sample)[DECISIVE]
    by_shipped = recall_by(own, shipped)
    shares = mixture.effective(np.stack([example.facts for example in own])).mean(axis=0)
    return SetComparison(
        questions=len(own),
        conversations=conversations,
        shares=tuple(shares.tolist()),
        shipped=by_shipped,
        mixture_held_out=mixture_held_out,
        mixture_in_sample=recall_by(own, mixture),
        own_held_out=own_held_out,
        own_in_sample=own_in_sample,
        shipped_loss=best - by_shipped[DECISIVE],
        mixture_loss=best - mixture_held_out[DECISIVE],
    )


def key_of(example: RankedExample) -> ConversationKey:
    """Returns a name for the conversation that no other data set uses."""
    return example.dataset, example.conversation


def assign_folds(examples: Sequence[RankedExample]) -> dict[ConversationKey, int]:
    """Deals the conversations out in turn, going on from set to set, so that each fold holds some of every set."""
    names = sorted(dict.fromkeys(map(key_of, examples)), key=lambda key: key[0])
    count = min(FOLDS, len(names))
    return {name: place % count for place, name in enumerate(names)}


def hold_out(
    examples: Sequence[RankedExample], folds: Mapping[ConversationKey, int], kind_shrinkage: float
) -> list[list[float]]:
    """Returns the shares of each question's evidence by weights fitted on the other folds."""
    places = [folds[key_of(example)] for example in examples]
    weights = {
        fold: fit_weights([e for e, place in zip(examples, places, strict=True) if place != fold], kind_shrinkage)
        for fold in sorted(set(places))
    }
    return [shares_of(example, weights[place]) for example, place in zip(examples, places, strict=True)]


def recall_by(examples: Sequence[RankedExample], weights: SignalShares) -> RecallByCut:
    return mean_recall([shares_of(example, weights) for example in examples])


def shares_of(example: RankedExample, weights: SignalShares) -> list[float]:
    """Returns the share of the question's evidence at each cut."""
    scores = mix_signals(example.signals, weights.effective(example.facts))
    found = np.cumsum(example.is_evidence[np.argsort(-scores, kind="stable")])
    return [float(found[min(cut, len(found)) - 1]) / example.known if len(found) else 0.0 for cut in CUTS]


def mix_signals(signals: FloatArray, shares: FloatArray) -> FloatArray:
    """Returns the score of each row of signals, as `relevance` does, for signals of any number."""
    present = np.where(np.isnan(signals), 0.0, shares)
    total = present.sum(axis=1)
    mixed: FloatArray = (present * np.clip(np.nan_to_num(signals), 0.0, 1.0)).sum(axis=1)
    return mixed / np.where(total > 0.0, total, 1.0)


def mean_recall(shares: Sequence[Sequence[float]]) -> RecallByCut:
    columns = np.array(shares).reshape(-1, len(CUTS)).mean(axis=0)
    return dict(zip(map(str, CUTS), columns.tolist(), strict=True))
