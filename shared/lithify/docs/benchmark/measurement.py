"""How well questions find their documents: Hit@1, Hit@5 and the hint rate, in every mode of search (spec 10 §11)."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from lithify.docs.benchmark.questions import BenchmarkQuestion
from lithify.docs.query import SearchMode

MODES: Final[tuple[SearchMode, ...]] = ("lexical", "dense", "fused")
# Chunks to ask for, so that five distinct documents are among them even where one fills several places.
DEPTH: Final = 30
SHORT: Final = 1
LONG: Final = 5
WORST: Final = 10

Ask: TypeAlias = Callable[[str, SearchMode], Awaitable[Sequence[str]]]
"""Returns the documents of the hits for a question, best first; one that fills several places may be named again."""


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """Holds the distinct documents a question found, best first; `with_hint` where it was asked again with its hint."""

    question: BenchmarkQuestion
    found: tuple[str, ...]
    with_hint: tuple[str, ...] | None = None

    @property
    def is_control(self) -> bool:
        return not self.question.expect

    def hits(self, depth: int) -> bool:
        return is_expected_in(self.question, self.found, depth)

    @property
    def needs_hint(self) -> bool:
        """True if it misses alone, and hits once it is given the word."""
        if self.hits(LONG) or self.with_hint is None:
            return False
        return is_expected_in(self.question, self.with_hint, LONG)


Outcomes: TypeAlias = Mapping[SearchMode, Sequence[QuestionOutcome]]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Names one question in one mode, for whoever shows progress."""

    question: BenchmarkQuestion
    mode: SearchMode


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """Holds shares of the questions that have an answer; controls only count how many came back with nothing."""

    asked: int
    hit1: float
    hit5: float
    hint_rate: float
    controls: int = 0
    silent: int = 0


async def ask_all(
    questions: Sequence[BenchmarkQuestion],
    ask: Ask,
    modes: Sequence[SearchMode] = MODES,
    progress: Callable[[AskedQuestion], None] = lambda _: None,
) -> dict[SearchMode, list[QuestionOutcome]]:
    """Asks every question in every mode, one after the other."""
    outcomes: dict[SearchMode, list[QuestionOutcome]] = {mode: [] for mode in modes}
    for question in questions:
        for mode in modes:
            outcomes[mode].append(await ask_one(question, mode, ask))
            progress(AskedQuestion(question, mode))
    return outcomes


async def ask_one(question: BenchmarkQuestion, mode: SearchMode, ask: Ask) -> QuestionOutcome:
    """Asks one question; the hint is tried only after a miss, for nothing else is asked of it."""
    plain = QuestionOutcome(question, distinct_documents(await ask(question.ask, mode)))
    if plain.is_control or plain.hits(LONG) or question.ask_with_hint is None:
        return plain
    return QuestionOutcome(question, plain.found, distinct_documents(await ask(question.ask_with_hint, mode)))


def is_expected_in(question: BenchmarkQuestion, found: Sequence[str], depth: int) -> bool:
    return not set(question.expect).isdisjoint(found[:depth])


def distinct_documents(documents: Iterable[str]) -> tuple[str, ...]:
    """Counts chunks of one document once, at the place of the best of them."""
    return tuple(dict.fromkeys(documents))


def score_outcomes(outcomes: Sequence[QuestionOutcome]) -> BenchmarkScore:
    asked = [one for one in outcomes if not one.is_control]
    controls = [one for one in outcomes if one.is_control]
    return BenchmarkScore(
        asked=len(asked),
        hit1=share_of_true(one.hits(SHORT) for one in asked),
        hit5=share_of_true(one.hits(LONG) for one in asked),
        hint_rate=share_of_true(one.needs_hint for one in asked),
        controls=len(controls),
        silent=sum(not one.found for one in controls),
    )


def score_categories(outcomes: Sequence[QuestionOutcome]) -> dict[str, BenchmarkScore]:
    names = dict.fromkeys(one.question.category for one in outcomes)
    return {name: score_outcomes([one for one in outcomes if one.question.category == name]) for name in names}


def list_misses(outcomes: Iterable[QuestionOutcome]) -> list[QuestionOutcome]:
    """Returns those that missed among the first five, important ones first."""
    missed = [one for one in outcomes if not one.is_control and not one.hits(LONG)]
    return sorted(missed, key=lambda one: not one.question.important)


def share_of_true(answers: Iterable[bool]) -> float:
    counted = list(answers)
    return sum(counted) / len(counted) if counted else 0.0


def make_report(outcomes: Outcomes) -> dict[str, Any]:
    """Returns all scores and the worst misses of each mode as plain data."""
    return {mode: report_mode(found) for mode, found in outcomes.items()}


def report_mode(outcomes: Sequence[QuestionOutcome]) -> dict[str, Any]:
    missed = list_misses(outcomes)
    return {
        "all": asdict(score_outcomes(outcomes)),
        "categories": {name: asdict(one) for name, one in score_categories(outcomes).items()},
        "hits": sorted(one.question.id for one in outcomes if not one.is_control and one.hits(LONG)),
        "worst": [describe_miss(one) for one in missed[:WORST]],
        "all_misses": sorted(one.question.id for one in missed),
        "important_misses": sorted(one.question.id for one in missed if one.question.important),
    }


def describe_miss(outcome: QuestionOutcome) -> dict[str, Any]:
    question = outcome.question
    return {
        "id": question.id,
        "category": question.category,
        "important": question.important,
        "needs_hint": outcome.needs_hint,
        "expected": list(question.expect),
        "found": list(outcome.found[:LONG]),
    }
