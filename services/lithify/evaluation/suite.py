"""Measures many data sets in one go, each through a node of its own, for one table of all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lithify.client import Memory
from lithify.evaluation.answers import Journal, finish_journal
from lithify.evaluation.datasets import Dataset, EvidenceQuestion
from lithify.evaluation.datasets.dataset import spread_evenly
from lithify.evaluation.foreign import ask_elsewhere, ask_once, injected_figures
from lithify.evaluation.metrics import mean
from lithify.evaluation.report import Figures
from lithify.evaluation.run import ask_all, ingest_once, run_node, warm_up
from lithify.evaluation.workplace import Workplace, find_workplace
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

# Enough for a mean; all pairs of thousands of conversations would take days.
FOREIGN_QUESTIONS: Final = 200


def measure_suite(datasets: Sequence[Dataset], folder: Path, settings: Settings, progress: Progress) -> Figures:
    """Returns the figures of every set under its name; after an interruption nothing is ingested or asked again."""
    sets = {}
    answers: list[Path] = []
    for dataset in datasets:
        place = find_workplace(folder, dataset, settings)
        measured = measure_set(dataset, place, settings, label_stages(dataset.name, progress))
        sets[dataset.name] = measured.figures
        answers += measured.answers
    # Not before the last set: a run that was interrupted there must not ask those before it again.
    for path in answers:
        finish_journal(path)
    return {"sets": sets}


def label_stages(name: str, progress: Progress) -> Progress:
    def show(stage: str, done: int, total: int) -> None:
        progress(f"{name}: {stage}", done, total)

    return show


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """The figures of one set, and the files that hold its answers until all sets are measured."""

    figures: Figures
    answers: tuple[Path, ...]


def measure_set(dataset: Dataset, place: Workplace, settings: Settings, progress: Progress) -> MeasuredSet:
    """Measures what `evaluate` does, and what questions about others bring into a context (`foreign`)."""
    with run_node(place, settings) as memory:
        ingest_once(memory, dataset, place, progress)
        setup = warm_up(memory, dataset, place)
        own, others = place.journal(setup.label), place.journal(f"others-{setup.label}")
        figures = ask_all(memory, dataset, own, setup, progress)
        foreign = measure_foreign_sample(memory, dataset, others, progress)
    counts = [len(question.evidence) for question in dataset.questions if question.evidence]
    return MeasuredSet(figures | {"evidence_per_question": mean(counts), "foreign": foreign}, (own, others))


def measure_foreign_sample(memory: Memory, dataset: Dataset, answers: Path, progress: Progress) -> Figures | None:
    """Returns None for a single conversation: there is no other to ask."""
    if len(dataset.conversations) < 2:
        return None
    asked = sample_foreign(dataset, FOREIGN_QUESTIONS)
    with Journal(answers) as journal:
        for number, question in enumerate(asked, 1):
            if question.id not in journal.answers:
                journal.add(ask_once(memory, question))
            progress("foreign questions", number, len(asked))
        return injected_figures(asked, journal.answers)


def sample_foreign(dataset: Dataset, count: int) -> list[EvidenceQuestion]:
    """Returns questions spread over all conversations, each asked of another one, of the next, the one after it, …"""
    others = {conversation.id: place for place, conversation in enumerate(dataset.conversations)}
    size = len(others)
    asked = []
    for number, question in enumerate(spread_evenly(dataset.questions, count)):
        place = (others[question.conversation] + 1 + number % (size - 1)) % size
        asked.append(ask_elsewhere(question, dataset.conversations[place]))
    return asked


def find_previous(figures: Figures, earlier: Sequence[Mapping[str, Any]]) -> Figures | None:
    """Returns the figures of an earlier run that asked the same questions of the same data, whatever it was called."""
    for run in earlier:
        for row in run["sets"].values() if "sets" in run else (run,):
            if all(row.get(key) == figures[key] for key in ("file_sha256", "conversations", "n")):
                return dict(row)
    return None
