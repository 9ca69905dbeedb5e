"""Questions as the ranking sees them: the signals of every candidate turn, and which of them is evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lithify.assembly.recall.retrieval import Retriever
from lithify.assembly.recall.search import search_query
from lithify.assembly.schema import SearchRequest
from lithify.evaluation.datasets import Dataset, Question
from lithify.evaluation.ingestion import Progress
from lithify.evaluation.inside import complete, scope_of
from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.relevance import RelevanceWeights
from lithify.memory.ranking.scoring import signal_rows

LIMIT = 20  # the deepest cut that is reported
EVERY_SIGNAL = RelevanceWeights(*[1.0] * len(RelevanceWeights._fields))


@dataclass(frozen=True, slots=True)
class Example:
    """`signals` has a row for each candidate; `known` counts all evidence, found or not."""

    conversation: str
    signals: FloatArray
    is_evidence: npt.NDArray[np.bool_]
    known: int


def example(question: Question, candidates: Sequence[Candidate]) -> Example:
    """Of turns only: copies of them would count twice."""
    turns = [candidate for candidate in candidates if candidate.kind is Kind.TURN]
    signals = np.nan_to_num(signal_rows(turns, EVERY_SIGNAL).T)
    is_evidence = np.array([turn.source_turn in question.evidence for turn in turns], dtype=np.bool_)
    return Example(question.conversation, signals, is_evidence, len(question.evidence))


async def gather_examples(
    retriever: Retriever, dataset: Dataset, profile: Profile, progress: Progress
) -> list[Example]:
    """Asks the store every question once, as `search` would; no weight has a say in what is found."""
    examples = []
    for number, question in enumerate(dataset.questions, 1):
        request = SearchRequest(query=question.text, user=question.conversation, limit=LIMIT)
        found = complete(await retriever.retrieve(scope_of(question), search_query(request, profile)))
        examples.append(example(question, found.candidates))
        progress("fit", number, len(dataset.questions))
    return examples
