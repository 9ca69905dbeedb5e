"""Tries ever shorter summaries until one is cheaper than its sources (spec 05 §8)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from lithify.memory.compaction.extractive import DENSITY
from lithify.memory.tokens import estimate_tokens

SPARSE = 0.25


class HasText(Protocol):
    @property
    def text(self) -> str: ...


D = TypeVar("D", bound=HasText)


@dataclass(frozen=True, slots=True)
class Rung:
    abstractive: bool
    max_tokens: int
    density: float


@dataclass(frozen=True, slots=True)
class Climb(Generic[D]):
    """The first draft that shrinks its sources, or none; with everything that went wrong on the way."""

    draft: D | None
    errors: tuple[Exception, ...] = ()


def rungs(abstractive: bool) -> tuple[Rung, ...]:
    chosen = (Rung(abstractive, 64, DENSITY), Rung(abstractive, 32, SPARSE))
    return (*chosen, Rung(False, 16, SPARSE)) if abstractive else chosen


def shrinks(summary: str, sources: Iterable[str]) -> bool:
    """The same estimator on both sides (X25); nothing at all is not a summary."""
    if not summary.strip():
        return False
    return estimate_tokens(summary) < sum(map(estimate_tokens, sources))


def climb(steps: Iterable[Rung], attempt: Callable[[Rung], D], sources: Iterable[str]) -> Climb[D]:
    originals = tuple(sources)
    errors: list[Exception] = []
    for rung in steps:
        try:
            draft = attempt(rung)
        except Exception as error:  # noqa: BLE001 - a failed attempt is a rung missed, not a run lost (X27)
            errors.append(error)
            continue
        if shrinks(draft.text, originals):
            return Climb(draft, tuple(errors))
    return Climb(None, tuple(errors))
