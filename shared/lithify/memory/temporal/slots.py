"""Cuts a question into the events it asks about and tells which texts speak of them (spec 09 §3)."""

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

MAX_SLOTS = 4
SLOT_COSINE = 0.50
_MIN_TERM_LENGTH = 3
_SHORT_CLAUSE = 3  # terms; a longer clause may hold two events and gives two slots
_SLOT_TERMS = 4

_BOUNDARY = re.compile(r"\b(?:after|before|between|or|and|then)\b|[?.!,;\n]")
_EITHER_OR = re.compile(r"\bor\b")
# Unicode words: a superset of [a-z0-9_]+, so that a name like "Zoë" stays one term (08 §3 does the same).
_TERM = re.compile(r"\w+")

_STOP_TERMS = frozenset(
    _TERM.findall("""
    the and for with that this have from your what when where which would could should about into some them they
    been just want looking look help need recommend suggestions suggest advice think also did does do after before
    since between first earlier many days long how take took it me my i
    """)
)
# "How many days were there between …" opens with a clause that names no event (spec 09, property 9).
_FILLER_TERMS = frozenset({"were", "was", "had", "been", "there", "passed"})


def event_slots(query: str, drop_filler: bool = True) -> tuple[str, ...]:
    """At most four short phrases; ``drop_filler=False`` also keeps phrases made of auxiliary words only."""
    text = query.lower()
    phrases = [phrase for clause in _BOUNDARY.split(text) for phrase in _phrases(_content_terms(clause))]
    slots = _unique(phrases or [_content_terms(text)[:_SLOT_TERMS]])
    kept = [slot for slot in slots if not (drop_filler and _FILLER_TERMS.issuperset(slot))]
    return tuple(" ".join(slot) for slot in kept if slot)[:MAX_SLOTS]


def offers_two_sides(query: str) -> bool:
    """True if an "or" stands between two things that can be told apart by a word."""
    sides = _EITHER_OR.split(query.lower(), maxsplit=1)
    return len(sides) == 2 and all(_content_terms(side) for side in sides)


def covered_slots(
    slots: Sequence[str],
    texts: Sequence[str],
    cosine: NDArray[np.floating] | None = None,
    threshold: float = SLOT_COSINE,
) -> tuple[frozenset[int], ...]:
    """For each text the slots it speaks of: half the slot's words occur, or the cosine reaches θ_e (X49).

    ``cosine`` has one row per text and one column per slot; leave it out when the embedder is the hash fallback.
    """
    if cosine is not None and cosine.shape != (len(texts), len(slots)):
        raise ValueError(f"cosine must have shape {(len(texts), len(slots))}, got {cosine.shape}")
    matches = _lexical_matches(slots, texts)
    if cosine is not None:
        matches |= cosine >= threshold
    return tuple(frozenset(np.flatnonzero(row).tolist()) for row in matches)


def _lexical_matches(slots: Sequence[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    slot_terms = [frozenset(slot.split()) for slot in slots]
    matches = np.zeros((len(texts), len(slots)), dtype=np.bool_)
    for row, text in enumerate(texts):
        found = frozenset(_TERM.findall(text.lower()))
        for column, terms in enumerate(slot_terms):
            matches[row, column] = 2 * len(terms & found) >= len(terms) > 0
    return matches


def _content_terms(text: str) -> list[str]:
    return [t for t in _TERM.findall(text) if len(t) >= _MIN_TERM_LENGTH and t not in _STOP_TERMS]


def _phrases(terms: list[str]) -> list[list[str]]:
    if len(terms) <= _SHORT_CLAUSE:
        return [terms] if terms else []
    return [terms[:_SLOT_TERMS], terms[-_SLOT_TERMS:]]


def _unique(phrases: Iterable[list[str]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(phrase) for phrase in phrases))
