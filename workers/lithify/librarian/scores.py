"""How well questions find their documents: Hit@1, Hit@5 and the hint rate, as pure arithmetic (spec 10 §11)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lithify.librarian.questions import Question

SHORT: Final = 1
LONG: Final = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question found, as distinct documents, best first; `hinted` where it was asked again with its hint."""

    question: Question
    found: tuple[str, ...]
    hinted: tuple[str, ...] | None = None

    @property
    def is_control(self) -> bool:
        return not self.question.expect

    def hits(self, depth: int) -> bool:
        return expected_in(self.question, self.found, depth)

    @property
    def needs_hint(self) -> bool:
        """It misses alone, and hits once it is given the word."""
        return not self.hits(LONG) and self.hinted is not None and expected_in(self.question, self.hinted, LONG)


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of the questions that have an answer; of controls only how many came back with nothing at all."""

    asked: int
    hit1: float
    hit5: float
    hint_rate: float
    controls: int = 0
    silent: int = 0


def expected_in(question: Question, found: Sequence[str], depth: int) -> bool:
    return not set(question.expect).isdisjoint(found[:depth])


def distinct(documents: Iterable[str]) -> tuple[str, ...]:
    """Chunks of one document count once, at the place of the best of them."""
    return tuple(dict.fromkeys(documents))


def score(outcomes: Sequence[Outcome]) -> Score:
    asked = [one for one in outcomes if not one.is_control]
    controls = [one for one in outcomes if one.is_control]
    return Score(
        asked=len(asked),
        hit1=share(one.hits(SHORT) for one in asked),
        hit5=share(one.hits(LONG) for one in asked),
        hint_rate=share(one.needs_hint for one in asked),
        controls=len(controls),
        silent=sum(not one.found for one in controls),
    )


def by_category(outcomes: Sequence[Outcome]) -> dict[str, Score]:
    names = dict.fromkeys(one.question.category for one in outcomes)
    return {name: score([one for one in outcomes if one.question.category == name]) for name in names}


def misses(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that missed among the first five, important ones first."""
    missed = [one for one in outcomes if not one.is_control and not one.hits(LONG)]
    return sorted(missed, key=lambda one: not one.question.important)


def share(answers: Iterable[bool]) -> float:
    told = list(answers)
    return sum(told) / len(told) if told else 0.0
