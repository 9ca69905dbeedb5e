"""The words of a verdict: promises, and the five ways in which the whole can fail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Breach(StrEnum):
    LOST = "lost"
    PHANTOM = "phantom"
    DUPLICATE = "duplicate"
    RESURRECTED = "resurrected"
    CROSSED = "crossed"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Finding:
    """A promise and whatever breaks it; nothing, if it was kept."""

    breach: Breach
    promise: str
    broken_by: tuple[str, ...] = ()


Found: TypeAlias = Iterator[tuple[Breach, str, Iterable[object]]]


def make_findings(found: Found) -> list[Finding]:
    return [Finding(breach, promise, tuple(sorted(map(str, broken_by)))) for breach, promise, broken_by in found]
