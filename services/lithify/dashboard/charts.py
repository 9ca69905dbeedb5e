"""The small charts, as numbers for SVG: pure functions, drawn by templates and renewed by the live stream."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 600
HEIGHT: Final = 96
SLOTS: Final = 120
"""Readings shown, about one a second; a line grows from the right edge."""


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of the budget bar: where it begins and how wide it is, in hundredths of the bar."""

    name: str
    tokens: int
    x: float
    width: float


def polyline(values: Sequence[float], top: float) -> str:
    """Returns the `points` of a line of the newest values, scaled so that `top` reaches the upper edge."""
    shown = values[-SLOTS:]
    step = WIDTH / (SLOTS - 1)
    scale = (HEIGHT - 4) / max(top, 1.0)
    first = SLOTS - len(shown)
    return " ".join(
        f"{(first + place) * step:.1f},{HEIGHT - 2 - min(value, top) * scale:.1f}" for place, value in enumerate(shown)
    )


def round_top(values: Iterable[float]) -> float:
    """Returns the least of 1, 2, 5, 10, 20, … that holds all values: a scale that does not twitch with every value."""
    highest = max(values, default=0.0)
    unit = 1.0
    while True:
        for factor in (1, 2, 5):
            if highest <= factor * unit:
                return factor * unit
        unit *= 10


def budget_bar(spent: Mapping[str, int], tokens: int, budget: int) -> list[BarSegment]:
    """Returns who got how much of the budget, then what frames cost; what is left over stays empty."""
    whole = max(budget, tokens, 1)
    parts = {**spent, "frames": max(0, tokens - sum(spent.values()))}
    segments = []
    x = 0.0
    for name, cost in parts.items():
        width = 100 * cost / whole
        segments.append(BarSegment(name, cost, round(x, 3), round(width, 3)))
        x += width
    return segments
