"""The whole fit: ingest if need be, ask the stores every question, fit and cross-validate."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import search_query
from lithify.assembly.schema import SearchRequest
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.inside import open_ingested, refuse_partial, scope_of
from lithify.evaluation.kind_weights import ProfileShares, SignalShares
from lithify.evaluation.weight_comparison import MixtureFit, SetComparison, fit_mixture
from lithify.evaluation.weight_fit import RankedExample
from lithify.evaluation.workplace import Workplace
from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.profile import RECALL, Profile
from lithify.memory.ranking.relevance import RelevanceWeights, Signals
from lithify.memory.ranking.scoring import signal_rows
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

LIMIT = 20  # deeper than any cut that is reported
SIGNALS = RelevanceWeights._fields
EVERY_SIGNAL = replace(RECALL, relevance=RelevanceWeights(*[1.0] * len(SIGNALS)))
KINDS = {"people": (0.0, 0.0), "chat": (1.0, 0.0), "dialogue": (1.0, 1.0)}
"""The kinds of talk a profile has weights for, by the facts of `describe_talk`."""


def make_example(dataset: str, question: EvidenceQuestion, candidates: Sequence[Candidate]) -> RankedExample:
    """Takes turns only: copies of them would count twice."""
    turns = [candidate for candidate in candidates if candidate.kind is Kind.TURN]
    return RankedExample(
        conversation=question.conversation,
        signals=signal_rows(turns, EVERY_SIGNAL).T,
        is_evidence=np.array([turn.source_turn in question.evidence for turn in turns], dtype=np.bool_),
        known=len(question.evidence),
        dataset=dataset,
        facts=describe_talk(turns[0].signals if turns else Signals()),
    )


def describe_talk(signals: Signals) -> FloatArray:
    """Returns how far a talk is a dialogue, and how far it is one of long turns: what mixes the weights."""
    return np.array([signals.dialogue, signals.dialogue * signals.long_turns])


async def gather_examples(
    retriever: Retriever, dataset: Dataset, profile: Profile, progress: Progress
) -> list[RankedExample]:
    """Asks the store every question once, as `search` would; no weight has a say in what is found."""
    examples = []
    for number, question in enumerate(dataset.questions, 1):
        if question.evidence:
            request = SearchRequest(query=question.text, user=question.conversation, limit=LIMIT)
            found = refuse_partial(await retriever.retrieve(scope_of(question), search_query(request, profile)))
            examples.append(make_example(dataset.name, question, found.candidates))
        progress(f"{dataset.name}: questions", number, len(dataset.questions))
    return examples


def fit_profile(
    places: Sequence[tuple[Dataset, Workplace]], settings: Settings, base: Profile, progress: Progress
) -> MixtureFit:
    """Finds new weights for the signals of `base`; no node may be running on the folders."""

    async def gather(dataset: Dataset, place: Workplace) -> list[RankedExample]:
        async with open_ingested(dataset, place, settings, progress) as memory:
            return await gather_examples(memory.retriever, dataset, base, progress)

    examples = [example for dataset, place in places for example in asyncio.run(gather(dataset, place))]
    return fit_mixture(examples, ProfileShares(base))


def describe_fit(found: MixtureFit, shipped: Profile) -> dict[str, Any]:
    """Returns the fit with every number under the name of its signal, as `lithify eval fit` prints it."""
    return {
        "weights": {kind: name_shares(found.weights, facts) for kind, facts in KINDS.items()},
        "shipped_weights": {kind: name_shares(ProfileShares(shipped), facts) for kind, facts in KINDS.items()},
        "sets": {name: describe_set(row) for name, row in found.sets.items()},
    }


def name_shares(weights: SignalShares, facts: Sequence[float]) -> dict[str, float]:
    return dict(zip(SIGNALS, weights.effective(facts).tolist(), strict=True))


def describe_set(row: SetComparison) -> dict[str, Any]:
    return asdict(row) | {"shares": dict(zip(SIGNALS, row.shares, strict=True))}
