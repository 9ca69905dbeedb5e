"""Asks the questions of one conversation of another user's memory: whatever that one shows is noise."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from lithify.client import Memory
from lithify.errors import Invalid
from lithify.evaluation.answers import Journal, RecordedAnswer, assemble, make_packed, measure_call
from lithify.evaluation.datasets import Conversation, Dataset, EvidenceQuestion
from lithify.evaluation.datasets.dataset import PAUSE_MS, spread_evenly
from lithify.evaluation.metrics import fraction, mean
from lithify.evaluation.report import EvaluationSetup, Figures, describe_setup
from lithify.evaluation.run import ingest_once, run_node, warm_up
from lithify.evaluation.workplace import Workplace
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

BUDGET: Final = 2000
PER_PAIR: Final = 20


def measure_foreign(
    dataset: Dataset, workplace: Workplace, settings: Settings, per_pair: int, progress: Progress
) -> Figures:
    """Measures all questions of their own memory, and some of every other one's; an interrupted run goes on.

    Raises Invalid for a single conversation: there is no other to ask.
    """
    foreign = plan_foreign(dataset, per_pair)
    asked = [*dataset.questions, *foreign]
    with run_node(workplace, settings) as memory:
        ingest_once(memory, dataset, workplace, progress)
        setup = warm_up(memory, dataset, workplace)
        with Journal(workplace.journal(f"foreign-{setup.label}")) as journal:
            for question in asked:
                if question.id not in journal.answers:
                    journal.add(ask_once(memory, question))
                progress("questions", len(journal.answers), len(asked))
            result = make_foreign_figures(dataset, foreign, journal.answers, setup)
            journal.finish()
    return result


def plan_foreign(dataset: Dataset, per_pair: int) -> list[EvidenceQuestion]:
    """Returns for every ordered pair of conversations so many questions of the first, asked of the second."""
    if len(dataset.conversations) < 2:
        raise Invalid("foreign questions need at least two conversations: one asks, the other is asked")
    return [
        ask_elsewhere(question, asked)
        for asking in dataset.conversations
        for asked in dataset.conversations
        if asking.id != asked.id
        for question in spread_evenly([q for q in dataset.questions if q.conversation == asking.id], per_pair)
    ]


def ask_elsewhere(question: EvidenceQuestion, conversation: Conversation) -> EvidenceQuestion:
    """Asks another memory, after its last turn; nothing there is evidence."""
    last = max((turn.ts for turn in conversation.turns), default=0)
    return replace(
        question,
        id=f"{question.id} @ {conversation.id}",
        conversation=conversation.id,
        evidence=frozenset(),
        sessions=frozenset(),
        now=max(question.now, last + PAUSE_MS),
    )


def ask_once(memory: Memory, question: EvidenceQuestion) -> RecordedAnswer:
    context, ms = measure_call(partial(assemble, memory, question, BUDGET))
    packed = {BUDGET: make_packed(context, ms)}
    return RecordedAnswer(question=question.id, rankings={}, packed=packed, degraded=tuple(context.degraded))


def make_foreign_figures(
    dataset: Dataset,
    foreign: Sequence[EvidenceQuestion],
    answers: Mapping[str, RecordedAnswer],
    setup: EvaluationSetup,
) -> Figures:
    """Every question must have its answer."""
    own = injected_figures(dataset.questions, answers)
    elsewhere = injected_figures(foreign, answers)
    shares = [fraction(answers[q.id].packed[BUDGET].turns, q.evidence) for q in dataset.questions if q.evidence]
    return {
        **describe_setup(dataset, setup),
        "budget": BUDGET,
        "evidence": mean(shares),
        "own": own,
        "foreign": elsewhere,
        "foreign_to_own": elsewhere["tokens"] / own["tokens"] if own["tokens"] else 0.0,
    }


def injected_figures(questions: Sequence[EvidenceQuestion], answers: Mapping[str, RecordedAnswer]) -> Figures:
    contexts = [answers[question.id].packed[BUDGET] for question in questions]
    return {
        "n": len(contexts),
        "tokens": mean([context.tokens for context in contexts]),
        "without_memory": mean([float(not context.turns) for context in contexts]),
    }
