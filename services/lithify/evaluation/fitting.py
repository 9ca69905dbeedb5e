"""The whole fit: ingest if need be, ask the store every question, fit and cross-validate."""

import asyncio
from collections.abc import Sequence

import numpy as np

from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import search_query
from lithify.assembly.schema import SearchRequest
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.inside import open_ingested, refuse_partial, scope_of
from lithify.evaluation.weight_fit import RankedExample, WeightFit, fit_across
from lithify.evaluation.workplace import Workplace
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.relevance import RelevanceWeights
from lithify.memory.ranking.scoring import signal_rows
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

LIMIT = 20  # the deepest cut that is reported
EVERY_SIGNAL = RelevanceWeights(*[1.0] * len(RelevanceWeights._fields))


def make_example(question: EvidenceQuestion, candidates: Sequence[Candidate]) -> RankedExample:
    """Takes turns only: copies of them would count twice."""
    turns = [candidate for candidate in candidates if candidate.kind is Kind.TURN]
    signals = np.nan_to_num(signal_rows(turns, EVERY_SIGNAL).T)
    is_evidence = np.array([turn.source_turn in question.evidence for turn in turns], dtype=np.bool_)
    return RankedExample(question.conversation, signals, is_evidence, len(question.evidence))


async def gather_examples(
    retriever: Retriever, dataset: Dataset, profile: Profile, progress: Progress
) -> list[RankedExample]:
    """Asks the store every question once, as `search` would; no weight has a say in what is found."""
    examples = []
    for number, question in enumerate(dataset.questions, 1):
        request = SearchRequest(query=question.text, user=question.conversation, limit=LIMIT)
        found = refuse_partial(await retriever.retrieve(scope_of(question), search_query(request, profile)))
        examples.append(make_example(question, found.candidates))
        progress("fit", number, len(dataset.questions))
    return examples


def fit_profile(
    dataset: Dataset, workplace: Workplace, settings: Settings, base: Profile, progress: Progress
) -> WeightFit:
    """Finds new weights for the signals of `base`; no node may be running on the folder."""

    async def gather() -> list[RankedExample]:
        async with open_ingested(dataset, workplace, settings, progress) as memory:
            return await gather_examples(memory.retriever, dataset, base, progress)

    return fit_across(asyncio.run(gather()), base.relevance)
