"""One evaluation from start to figures: ingest what is missing, ask what is open, report."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lithify.batching import batched_by_weight
from lithify.client import BatchResult, Memory, Turn
from lithify.errors import Invalid, Unavailable
from lithify.evaluation.answers import Journal, ask, finish_journal, search
from lithify.evaluation.datasets import Conversation, Dataset
from lithify.evaluation.report import EvaluationSetup, Figures, make_figures
from lithify.evaluation.workplace import Workplace
from lithify.events.turn import MAX_BATCH
from lithify.node.child import child_node, refuse_foreign_parts
from lithify.settings import Settings
from lithify.telemetry.progress import Progress

# The first answers of a fresh process are slow: the engine maps its files, the model its weights.
WARM_UPS: Final = 20
# Recall is measured here, not the machine: a busy one may be slow, but must not leave parts of the memory out.
DEADLINE_MS: Final = 60_000
# About five minutes: a gateway that refuses turns for now has worked its backlog off by then.
TRIES: Final = 30
# An eighth of the gateway's default limit of a body: JSON escapes and UTF-8 make a text longer than it is.
MAX_BATCH_CHARS: Final = 2**20
POLL_S: Final = 0.2
# A worker that restarts is back within seconds; a queue that stands still for minutes will not move by waiting.
STALLED_S: Final = 300.0


def evaluate(dataset: Dataset, workplace: Workplace, settings: Settings, progress: Progress) -> Figures:
    """Measures all questions; those of an interrupted run are not asked again."""
    with run_node(workplace, settings) as memory:
        ingest_once(memory, dataset, workplace, progress)
        setup = warm_up(memory, dataset, workplace)
        figures = ask_all(memory, dataset, workplace.journal(setup.label), setup, progress)
    finish_journal(workplace.journal(setup.label))
    return figures


def ask_all(memory: Memory, dataset: Dataset, answers: Path, setup: EvaluationSetup, progress: Progress) -> Figures:
    """Asks what is not yet in the file of answers and returns the figures of all."""
    texts = {turn.event_id: turn.text for turn in dataset.turns}
    with Journal(answers) as journal:
        for number, question in enumerate(dataset.questions, 1):
            if question.id not in journal.answers:
                journal.add(ask(memory, question, {name: texts[name] for name in question.evidence}))
            progress("questions", number, len(dataset.questions))
        return make_figures(dataset, journal.answers, setup)


@contextmanager
def run_node(workplace: Workplace, settings: Settings) -> Iterator[Memory]:
    """Runs a node on the folder. Raises Misconfigured if the settings name parts that are not its own."""
    refuse_foreign_parts(settings, "an evaluation")
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


def ingest_once(memory: Memory, dataset: Dataset, workplace: Workplace, progress: Progress) -> None:
    if not workplace.is_ingested:
        started = time.monotonic()
        ingest(memory, dataset, progress)
        workplace.mark_ingested(time.monotonic() - started)


def warm_up(memory: Memory, dataset: Dataset, workplace: Workplace) -> EvaluationSetup:
    """Asks some questions and reads the parameters from a receipt: what answered, not what should have."""
    answers = [search(memory, question) for question in dataset.questions[:WARM_UPS]]
    profile = memory.trace(answers[0].trace_id or "")["profile"]
    model = memory.status()["embedder"]
    return EvaluationSetup(
        profile=profile["name"],
        profile_sha256=profile["digest"],
        model=model["profile"],
        model_fingerprint=model["fingerprint"],
        ingest_seconds=workplace.contents.ingest_seconds,
    )


def ingest(memory: Memory, dataset: Dataset, progress: Progress) -> None:
    """Returns when everything is stored; sending again is harmless. Raises Invalid for a turn the gateway refuses."""
    turns = [turn for conversation in dataset.conversations for turn in make_turns(conversation)]
    for batch in batched_by_weight(turns, count_characters, MAX_BATCH_CHARS, MAX_BATCH):
        refuse_rejected(memory.ingest_batch(batch))
    wait_until_stored(memory, len(turns), progress)


def make_turns(conversation: Conversation) -> Iterator[Turn]:
    for turn in conversation.turns:
        yield {
            "event_id": turn.event_id,
            "user": conversation.id,
            "session": turn.session,
            "role": turn.role,
            "text": turn.text,
            "ts": turn.ts,
            "seq": turn.seq,
        }


def count_characters(turn: Turn) -> int:
    return len(turn["text"])


def refuse_rejected(answer: BatchResult) -> None:
    for item in answer.results:
        if item.status in ("invalid", "conflict"):
            reasons = "; ".join(f"{error.field}: {error.message}" for error in item.errors or ())
            raise Invalid(f"turn {item.event_id!r} was refused ({item.status}) {reasons}".rstrip())


def wait_until_stored(memory: Memory, total: int, progress: Progress) -> None:
    """Polls. Raises Unavailable when the queues stand still or turns were given up: the memory would be incomplete."""
    seen = -1
    since = time.monotonic()
    while waiting := (status := memory.status())["unfinished"]:
        progress("ingest", max(total - waiting, 0), total)
        if waiting != seen:
            seen = waiting
            since = time.monotonic()
        elif time.monotonic() - since > STALLED_S:
            raise Unavailable(f"{waiting} deliveries have been waiting for {STALLED_S:.0f} s; see the node's log")
        time.sleep(POLL_S)
    if status["dead_letters"]:
        raise Unavailable(f"{status['dead_letters']} turns were given up by the pipeline; see the node's log")
    progress("ingest", total, total)
