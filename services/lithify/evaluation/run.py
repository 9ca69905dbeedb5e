"""One evaluation from start to figures: ingest what is missing, ask what is open, report."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lithify.client import Memory
from lithify.errors import Misconfigured
from lithify.evaluation.answers import Journal
from lithify.evaluation.asking import ask, search
from lithify.evaluation.datasets import Dataset
from lithify.evaluation.ingestion import Progress, ingest
from lithify.evaluation.report import Figures, Setup, figures
from lithify.evaluation.workplace import Workplace
from lithify.node.child import child_node
from lithify.settings import Settings

# The first answers of a fresh process are slow: the engine maps its files, the model its weights.
WARM_UPS: Final = 20
# Recall is measured here, not the machine: a busy one may be slow, but must not leave parts of the memory out.
DEADLINE_MS: Final = 60_000
# About five minutes: a gateway that refuses turns for now has worked its backlog off by then.
TRIES: Final = 30
# What would mix the benchmark with somebody's real memory, or rules into its prompts.
FOREIGN: Final = ("redis_url", "qdrant_url", "archive_dir", "authored_dir")


def evaluate(dataset: Dataset, workplace: Workplace, settings: Settings, progress: Progress) -> Figures:
    """The figures of all questions; those of an interrupted run are not asked again."""
    with running_node(workplace, settings) as memory:
        ensure_ingested(memory, dataset, workplace, progress)
        setup = warmed_up(memory, dataset, workplace, settings)
        with Journal(workplace.journal(f"{setup.profile}-{setup.profile_sha256[:12]}")) as journal:
            open_questions = [question for question in dataset.questions if question.id not in journal.answers]
            for question in open_questions:
                journal.add(ask(memory, question))
                progress("questions", len(journal.answers), len(dataset.questions))
            result = figures(dataset, journal.answers, setup)
            journal.finish()
    return result


def refuse_foreign(settings: Settings) -> None:
    for name in FOREIGN:
        if getattr(settings, name) is not None:
            raise Misconfigured(f"an evaluation runs on parts of its own; unset LITHIFY_{name.upper()} for it")


@contextmanager
def running_node(workplace: Workplace, settings: Settings) -> Iterator[Memory]:
    """Raises Misconfigured if the settings name parts that are not the evaluation's own."""
    refuse_foreign(settings)
    own = {
        "LITHIFY_HOST": "127.0.0.1",
        "LITHIFY_MODELS_DIR": str(settings.models_dir),
        "LITHIFY_EMBEDDING_PROFILE": settings.embedding_profile,
        "LITHIFY_EMBEDDING_VARIANT": settings.embedding_variant,
        "LITHIFY_RETRIEVAL_PROFILE": settings.retrieval_profile,
        "LITHIFY_ASSEMBLE_DEADLINE_MS": str(DEADLINE_MS),
    }
    with (
        child_node(workplace.data_dir, own) as node,
        Memory(node.url, timeout_s=DEADLINE_MS / 1000, tries=TRIES) as memory,
    ):
        yield memory


def ensure_ingested(memory: Memory, dataset: Dataset, workplace: Workplace, progress: Progress) -> None:
    if not workplace.is_ingested:
        started = time.monotonic()
        ingest(memory, dataset, progress)
        workplace.mark_ingested(time.monotonic() - started)


def warmed_up(memory: Memory, dataset: Dataset, workplace: Workplace, settings: Settings) -> Setup:
    """The parameters are read from a receipt: what answered, not what should have."""
    answers = [search(memory, question) for question in dataset.questions[:WARM_UPS]]
    profile = memory.trace(answers[0].trace_id or "")["profile"]
    model = memory.status()["embedder"]
    return Setup(
        profile=settings.retrieval_profile,
        profile_sha256=profile["digest"],
        model=model["profile"],
        model_fingerprint=model["fingerprint"],
        ingest_seconds=workplace.contents.ingest_seconds,
    )
