"""Tells who speaks where a memory holds the talk of several people, as in "Ada: hello"."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from lithify.memory.ranking.cues import speaker_of

# Whoever takes part in a talk speaks more than once; "Note: ..." and "The big ones: ..." open a text here and there.
LEAST_TURNS: Final = 2


def find_speakers(texts: Sequence[str]) -> list[str | None]:
    """Returns the name that each text opens with, if another one opens with it, too."""
    openers = [speaker_of(text) for text in texts]
    counts = Counter(openers)
    return [name if name is not None and counts[name] >= LEAST_TURNS else None for name in openers]
