"""Asks every question in every mode and puts the scores side by side."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

from lithify.librarian.questions import Question
from lithify.librarian.scores import LONG, Outcome, by_category, distinct, misses, score

Mode: TypeAlias = Literal["lexical", "dense", "fused"]
MODES: Final[tuple[Mode, ...]] = ("lexical", "dense", "fused")
# Chunks to ask for, so that five distinct documents are among them even where one fills several places.
DEPTH: Final = 30
WORST: Final = 10

Ask: TypeAlias = Callable[[str, Mode], Awaitable[Sequence[str]]]
"""The documents of the hits for a question, best first; one that fills several places may be named several times."""

Outcomes: TypeAlias = Mapping[Mode, Sequence[Outcome]]


@dataclass(frozen=True, slots=True)
class Asking:
    """One question in one mode, for whoever shows progress."""

    question: Question
    mode: Mode


async def ask_all(
    questions: Sequence[Question],
    ask: Ask,
    modes: Sequence[Mode] = MODES,
    progress: Callable[[Asking], None] = lambda _: None,
) -> dict[Mode, list[Outcome]]:
    outcomes: dict[Mode, list[Outcome]] = {mode: [] for mode in modes}
    for question in questions:
        for mode in modes:
            outcomes[mode].append(await ask_one(question, mode, ask))
            progress(Asking(question, mode))
    return outcomes


async def ask_one(question: Question, mode: Mode, ask: Ask) -> Outcome:
    """The hint is tried only after a miss: nothing else is asked of it."""
    plain = Outcome(question, distinct(await ask(question.ask, mode)))
    if plain.is_control or plain.hits(LONG) or question.hinted is None:
        return plain
    return Outcome(question, plain.found, distinct(await ask(question.hinted, mode)))


def report(outcomes: Outcomes) -> dict[str, Any]:
    """All scores and the worst misses as plain data."""
    return {mode: mode_report(found) for mode, found in outcomes.items()}


def mode_report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    missed = misses(outcomes)
    return {
        "all": asdict(score(outcomes)),
        "categories": {name: asdict(one) for name, one in by_category(outcomes).items()},
        "hits": sorted(one.question.id for one in outcomes if not one.is_control and one.hits(LONG)),
        "worst": [miss(one) for one in missed[:WORST]],
        "all_misses": sorted(one.question.id for one in missed),
        "important_misses": sorted(one.question.id for one in missed if one.question.important),
    }


def miss(outcome: Outcome) -> dict[str, Any]:
    question = outcome.question
    return {
        "id": question.id,
        "category": question.category,
        "important": question.important,
        "needs_hint": outcome.needs_hint,
        "expected": list(question.expect),
        "found": list(outcome.found[:LONG]),
    }
