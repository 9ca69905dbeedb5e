"""Asks one question in all ways that are measured, and keeps the answers between runs."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lithify.client import Context, Hit, Memory, SearchResult
from lithify.evaluation.datasets import EvidenceQuestion
from lithify.evaluation.metrics import CUTS
from lithify.memory.prompt.losses import is_loss

SearchWay = Literal["hybrid", "dense", "lexical"]

SEARCH: Final = "search"
SESSIONS: Final = "sessions"
LIMIT: Final = max(CUTS)
# Related turns crowd the head of a list: of 50 hits, a fifth of LoCoMo's questions see fewer than ten sessions.
DEEP: Final = 100
# The search of the ordinary list is timed by itself; the deep one only tells the order of sessions.
WAYS: Final[Mapping[str, tuple[SearchWay, int]]] = {
    SEARCH: ("hybrid", LIMIT),
    SESSIONS: ("hybrid", DEEP),
    "bm25": ("lexical", DEEP),
    "dense": ("dense", DEEP),
}
BASELINES: Final = ("bm25", "dense")
BUDGETS: Final = (1000, 2000, 4000)

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

# Scripts without spaces between words are counted by their signs.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")

T = TypeVar("T")


class RankedTurns(BaseModel):
    """Holds event ids, best first; a hit without one keeps its place under its own id."""

    model_config = ConfigDict(frozen=True)

    turns: tuple[str, ...]
    ms: float


class PackedContext(BaseModel):
    """Holds the event ids of everything in an assembled context.

    A turn counts as shown by any excerpt; `words` holds for each evidence turn the share of its words that is there.
    """

    model_config = ConfigDict(frozen=True)

    turns: tuple[str, ...]
    tokens: int
    ms: float
    words: dict[str, float] = {}


class RecordedAnswer(BaseModel):
    """What the system answered to one question, in all ways it was asked."""

    model_config = ConfigDict(frozen=True)

    question: str
    rankings: dict[str, RankedTurns]
    packed: dict[int, PackedContext]
    degraded: tuple[str, ...] = ()


class Journal:
    """Keeps answers on disk, one a line, so that an interrupted run goes on where it was."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.answers = {answer.question: answer for answer in _readable(path)}
        # Written anew at once: a line torn by a crash must not be continued by the next answer.
        path.write_text("".join(map(_line, self.answers.values())), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def add(self, answer: RecordedAnswer) -> None:
        self.answers[answer.question] = answer
        self._file.write(_line(answer))
        self._file.flush()

    def finish(self) -> None:
        """Closes the run; the next one asks everything again: the code that answers may have changed."""
        self._path.replace(self._path.with_suffix(".done.jsonl"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def finish_journal(path: Path) -> None:
    """Closes a run that is complete by now."""
    with Journal(path) as journal:
        journal.finish()


def _readable(path: Path) -> Iterator[RecordedAnswer]:
    if not path.exists():
        return
    for line in path.read_text("utf-8").splitlines():
        try:
            yield RecordedAnswer.model_validate_json(line)
        except ValidationError:
            return


def _line(answer: RecordedAnswer) -> str:
    return f"{answer.model_dump_json()}\n"


def ask(memory: Memory, question: EvidenceQuestion, evidence: Mapping[str, str]) -> RecordedAnswer:
    """Asks in all ways; `evidence` holds the texts of the evidence turns."""
    found = {name: measure_call(partial(search, memory, question, *way)) for name, way in WAYS.items()}
    packed = {budget: measure_call(partial(assemble, memory, question, budget)) for budget in BUDGETS}
    complaints = [
        *(result.degraded for result, _ in found.values()),
        *(context.degraded for context, _ in packed.values()),
    ]
    return RecordedAnswer(
        question=question.id,
        rankings={name: RankedTurns(turns=ranked_names(result.hits), ms=ms) for name, (result, ms) in found.items()},
        packed={budget: make_packed(context, ms, evidence) for budget, (context, ms) in packed.items()},
        # A full budget is what packing is measured at.
        degraded=tuple(reason for reason in dict.fromkeys(chain.from_iterable(complaints)) if not is_loss(reason)),
    )


def search(memory: Memory, question: EvidenceQuestion, mode: SearchWay = "hybrid", limit: int = LIMIT) -> SearchResult:
    """Asks everything the user ever said, for no session is named."""
    return memory.search(question.text, user=question.conversation, mode=mode, limit=limit, now=question.now)


def assemble(memory: Memory, question: EvidenceQuestion, budget: int) -> Context:
    return memory.assemble(
        user=question.conversation,
        session=session_of(question),
        query=question.text,
        token_budget=budget,
        now=question.now,
    )


def session_of(question: EvidenceQuestion) -> str:
    """Names a session of its own, as when somebody comes back later: nothing is in its tail."""
    return f"{question.conversation}:asking"


def ranked_names(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(hit.event_id or hit.id for hit in hits)


def make_packed(context: Context, ms: float, evidence: Mapping[str, str] = NOTHING) -> PackedContext:
    entries = [entry for block in context.blocks for entry in block.entries]
    texts = {name: [entry.text for entry in entries if entry.event_id == name] for name in evidence}
    return PackedContext(
        turns=tuple(entry.event_id or entry.id for entry in entries),
        tokens=context.tokens,
        ms=ms,
        words={name: share_of_words(text, texts[name]) for name, text in evidence.items()},
    )


def share_of_words(text: str, shown: Iterable[str]) -> float:
    """Returns how much of a text its parts show; a word shown in two parts counts as often as the text has it."""
    wanted = count_words(text)
    found = wanted & count_words(" ".join(shown))
    return found.total() / wanted.total() if wanted else 0.0


def count_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def measure_call(call: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    answer = call()
    return answer, 1000 * (time.perf_counter() - started)
