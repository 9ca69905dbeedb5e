"""Asks one question in all ways that are measured."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final, Literal, TypeVar

from lithify.client import Context, Hit, Memory, SearchResult
from lithify.evaluation.answers import Answer, Packed, Ranking
from lithify.evaluation.datasets import Question
from lithify.evaluation.metrics import CUTS

Mode = Literal["hybrid", "dense", "lexical"]

SEARCH: Final = "search"
SESSIONS: Final = "sessions"
LIMIT: Final = max(CUTS)
# Related turns crowd the head of a list: of 50 hits, a fifth of LoCoMo's questions see fewer than ten sessions.
DEEP: Final = 100
# The search of the ordinary list is timed by itself; the deep one only tells the order of sessions.
WAYS: Final[Mapping[str, tuple[Mode, int]]] = {
    SEARCH: ("hybrid", LIMIT),
    SESSIONS: ("hybrid", DEEP),
    "bm25": ("lexical", DEEP),
    "dense": ("dense", DEEP),
}
BASELINES: Final = ("bm25", "dense")
BUDGETS: Final = (1000, 2000, 4000)

T = TypeVar("T")


def ask(memory: Memory, question: Question) -> Answer:
    found = {name: timed(partial(search, memory, question, *way)) for name, way in WAYS.items()}
    packed = {budget: timed(partial(assemble, memory, question, budget)) for budget in BUDGETS}
    complaints = [
        *(result.degraded for result, _ in found.values()),
        *(context.degraded for context, _ in packed.values()),
    ]
    return Answer(
        question=question.id,
        rankings={name: Ranking(turns=names_of(result.hits), ms=ms) for name, (result, ms) in found.items()},
        packed={budget: packed_of(context, ms) for budget, (context, ms) in packed.items()},
        degraded=tuple(dict.fromkeys(chain.from_iterable(complaints))),
    )


def search(memory: Memory, question: Question, mode: Mode = "hybrid", limit: int = LIMIT) -> SearchResult:
    """Without a session: the question is asked of everything its user ever said."""
    return memory.search(question.text, user=question.conversation, mode=mode, limit=limit, now=question.now)


def assemble(memory: Memory, question: Question, budget: int) -> Context:
    return memory.assemble(
        user=question.conversation,
        session=session_of(question),
        query=question.text,
        token_budget=budget,
        now=question.now,
    )


def session_of(question: Question) -> str:
    """A session of its own, as when somebody comes back later: nothing is in its tail."""
    return f"{question.conversation}:asking"


def names_of(hits: Sequence[Hit]) -> tuple[str, ...]:
    return tuple(hit.event_id or hit.id for hit in hits)


def packed_of(context: Context, ms: float) -> Packed:
    entries = [entry for block in context.blocks for entry in block.entries]
    return Packed(turns=tuple(entry.event_id or entry.id for entry in entries), tokens=context.tokens, ms=ms)


def timed(call: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    answer = call()
    return answer, 1000 * (time.perf_counter() - started)
