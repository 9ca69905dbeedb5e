"""Reads what a question says about time (spec 09 §1, §3), and guards the coverage selector (§7)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lithify.memory.languages import ENGLISH, Language, find_readings, finds_cue, load_languages, normalise
from lithify.memory.languages.writing import MARKS
from lithify.memory.ranking.cues import asks_when, words
from lithify.memory.ranking.profile import INDICATOR_WEIGHTS, IndicatorWeights, Profile

MAX_SLOTS = 4
SLOT_COSINE = 0.50
_MIN_TERM_LENGTH = 3
_MIN_DENSE_LENGTH = 2  # of a script in which one character is a syllable or a word
_SHORT_CLAUSE = 3  # terms; a longer clause may hold two events and gives two slots
_SLOT_TERMS = 4

_MARKS = r"[?.!,;\n]"
_FOREIGN_MARKS = r"[?.!,;\n。、؟،]"
# Unicode words: a superset of [a-z0-9_]+, so that a name like "Zoë" stays one term (08 §3 does the same).
_TERM = re.compile(r"\w+")
_FOREIGN_TERM = re.compile(rf"[\w{MARKS}]+")  # with the vowel signs of Indic scripts

_STOP_TERMS = frozenset(
    _TERM.findall("""
    the and for with that this have from your what when where which would could should about into some them they
    been just want looking look help need recommend suggestions suggest advice think also did does do after before
    since between first earlier many days long how take took it me my i
    """)
)
# "How many days were there between …" opens with a clause that names no event (spec 09, property 9).
_FILLER_TERMS = frozenset({"were", "was", "had", "been", "there", "passed"})
XI_THRESHOLD = 0.3


def event_slots(
    query: str, drop_filler: bool = True, limit: int = MAX_SLOTS, language: Language | None = None
) -> tuple[str, ...]:
    """Returns at most `limit` short phrases; ``drop_filler=False`` also keeps phrases made of auxiliary words only.

    The words that part and fill the clauses are those of a language, English unless it is given.
    """
    spoken = language or _english()
    text = _lower(query, spoken)
    phrases = [
        phrase for clause in _boundaries(spoken).split(text) for phrase in _phrases(_content_terms(clause, spoken))
    ]
    slots = _unique(phrases or [_content_terms(text, spoken)[:_SLOT_TERMS]])
    kept = [slot for slot in slots if not (drop_filler and _FILLER_TERMS.issuperset(slot))]
    return tuple(" ".join(slot) for slot in kept if slot)[:limit]


def offers_two_sides(query: str, language: Language | None = None) -> bool:
    """Returns whether an "or" stands between two things that can be told apart by a word."""
    spoken = language or _english()
    either_or = spoken.find_pattern("order.either_or")
    sides = either_or.split(_lower(query, spoken), maxsplit=1) if either_or else []
    return len(sides) == 2 and all(_content_terms(side, spoken) for side in sides)


def covered_slots(
    slots: Sequence[str],
    texts: Sequence[str],
    cosine: NDArray[np.floating] | None = None,
    threshold: float = SLOT_COSINE,
) -> tuple[frozenset[int], ...]:
    """Returns for each text the slots it speaks of: half the slot's words occur, or the cosine reaches θ_e (X49).

    ``cosine`` has one row per text and one column per slot; leave it out when the embedder is the hash fallback.
    """
    if cosine is not None and cosine.shape != (len(texts), len(slots)):
        raise ValueError(f"cosine must have shape {(len(texts), len(slots))}, got {cosine.shape}")
    matches = _lexical_matches(slots, texts)
    if cosine is not None:
        matches |= cosine >= threshold
    return tuple(frozenset(np.flatnonzero(row).tolist()) for row in matches)


def _lexical_matches(slots: Sequence[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    slot_terms = [frozenset(words(slot)) for slot in slots]
    matches = np.zeros((len(texts), len(slots)), dtype=np.bool_)
    for row, text in enumerate(texts):
        found = frozenset(words(text))
        for column, terms in enumerate(slot_terms):
            matches[row, column] = 2 * len(terms & found) >= len(terms) > 0
    return matches


def _content_terms(text: str, language: Language) -> list[str]:
    if language.code == ENGLISH:
        return [t for t in _TERM.findall(text) if len(t) >= _MIN_TERM_LENGTH and t not in _STOP_TERMS]
    least = _MIN_TERM_LENGTH if language.spacing == "words" else _MIN_DENSE_LENGTH
    return [t for t in _FOREIGN_TERM.findall(text) if len(t) >= least and t not in language.stop_words]


def _english() -> Language:
    return load_languages()[ENGLISH]


@cache
def _boundaries(language: Language) -> re.Pattern[str]:
    """Returns what parts the clauses of a question: small words of the language, and marks."""
    is_english = language.code == ENGLISH
    # What only asks for a time names no event; English has a list of such terms of its own.
    asking = () if is_english else ("filler", "how_many_days", "how_long", "when_did")
    marks = _MARKS if is_english else _FOREIGN_MARKS
    patterns = (language.find_pattern(f"order.{cue}") for cue in ("boundaries", *asking))
    return re.compile("|".join([*(pattern.pattern for pattern in patterns if pattern is not None), marks]))


def _lower(query: str, language: Language) -> str:
    """Returns a question as the words of a language are looked for; English ones to the letter of the specification."""
    return query.lower() if language.code == ENGLISH else normalise(query)


def _phrases(terms: list[str]) -> list[list[str]]:
    if len(terms) <= _SHORT_CLAUSE:
        return [terms] if terms else []
    return [terms[:_SLOT_TERMS], terms[-_SLOT_TERMS:]]


def _unique(phrases: Iterable[list[str]]) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(tuple(phrase) for phrase in phrases))


class Label(StrEnum):
    HOW_MANY_DAYS = "how many days"
    HOW_LONG = "how long"
    BEFORE_OR_AFTER = "before or after"
    FIRST_OR_EARLIER = "first or earlier"
    SINCE_OR_BETWEEN = "since or between"
    WHEN_DID = "when did"


class Reason(StrEnum):
    """It says why the guard let the coverage selector run, or did not; it is traced with every assembly."""

    INACTIVE = "inactive"
    INDICATOR = "indicator"
    NO_STRONG_LABEL = "no_strong_label"
    SLOT_COUNT = "slot_count"
    TWO_EVENTS = "two_events"
    EARLIEST_EVENT = "earliest_event"
    NO_TIME_ASKED = "no_time_asked"


@dataclass(frozen=True, slots=True)
class Guard:
    applies: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class TemporalQuery:
    labels: tuple[Label, ...]
    xi: float
    slots: tuple[str, ...]
    guard: Guard


_DISTANCE_LABELS = frozenset({Label.HOW_MANY_DAYS, Label.HOW_LONG, Label.BEFORE_OR_AFTER, Label.SINCE_OR_BETWEEN})


def temporal_labels(query: str, languages: Sequence[Language] = ()) -> tuple[Label, ...]:
    """Returns the kinds of words about time that a question has in some of the languages, English unless given."""
    spoken = [(language, _lower(query, language)) for language in languages or (_english(),)]
    return tuple(
        label for label in Label if any(one.finds(f"order.{label.name.lower()}", text) for one, text in spoken)
    )


def temporal_indicator(labels: tuple[Label, ...], weights: IndicatorWeights = INDICATOR_WEIGHTS) -> float:
    """Returns ξ in [0, 1]; each label counts once however often it occurs."""
    fired: list[float] = [getattr(weights, label.name.lower()) for label in Label if label in labels]
    return min(sum(fired) / weights.saturation, 1.0)


def read_temporal_query(
    query: str,
    threshold: float = XI_THRESHOLD,
    *,
    drop_filler: bool = True,
    weights: IndicatorWeights = INDICATOR_WEIGHTS,
    max_slots: int = MAX_SLOTS,
    languages: Sequence[Language] = (),
) -> TemporalQuery:
    """Reads all that the words of a question say about time; ``drop_filler`` is that of `event_slots`.

    They are read as English, as the specification does, unless languages are given, the likeliest first.
    """
    labels = temporal_labels(query, languages)
    xi = temporal_indicator(labels, weights)
    slots = event_slots(query, drop_filler, max_slots, next(iter(languages), None))
    guard = decide_guard(labels, xi, len(slots), threshold)
    return TemporalQuery(labels=labels, xi=xi, slots=slots, guard=guard)


def read_guarded_query(query: str, profile: Profile) -> TemporalQuery:
    """Reads what a question asks about time, under the guard of the profile.

    That of the sources knows no filler, and no language but English.
    """
    is_literal = profile.temporal_guard == "indicator"
    read = read_temporal_query(
        query,
        profile.temporal_threshold,
        drop_filler=not is_literal,
        weights=profile.indicator,
        max_slots=profile.max_slots,
        languages=() if is_literal else find_readings(query),
    )
    if is_literal:
        return trust_indicator(read, profile.temporal_threshold)
    return require_time_question(read, query) if profile.temporal_guard == "question" else read


def asks_for_time(query: str) -> bool:
    """Returns whether a time or an order in time is wanted: "what did she buy after the fair?" only names an event."""
    if asks_when(query) or finds_cue("order.asked", query):
        return True
    return any(offers_two_sides(query, language) for language in find_readings(query))


def require_time_question(read: TemporalQuery, query: str) -> TemporalQuery:
    """Returns the same with a guard that also wants the question to ask for a time."""
    if not read.guard.applies or asks_for_time(query):
        return read
    return replace(read, guard=Guard(False, Reason.NO_TIME_ASKED))


def trust_indicator(read: TemporalQuery, threshold: float = XI_THRESHOLD) -> TemporalQuery:
    """Returns the same with the guard of the sources, who ask for ξ and nothing else (seed 9.8, X47)."""
    is_active = read.xi >= threshold
    return replace(read, guard=Guard(is_active, Reason.INDICATOR if is_active else Reason.INACTIVE))


def decide_guard(labels: tuple[Label, ...], xi: float, slot_count: int, threshold: float = XI_THRESHOLD) -> Guard:
    """Decides by labels and slots; the weakest label passes the threshold, so ξ alone must not switch (X47)."""
    if xi < threshold:
        return Guard(False, Reason.INACTIVE)
    if _DISTANCE_LABELS.intersection(labels):
        return _guard_if(slot_count == 2, Reason.TWO_EVENTS)
    if Label.FIRST_OR_EARLIER in labels:
        return _guard_if(1 <= slot_count <= MAX_SLOTS, Reason.EARLIEST_EVENT)
    return Guard(False, Reason.NO_STRONG_LABEL)


def _guard_if(applies: bool, reason: Reason) -> Guard:
    return Guard(applies, reason if applies else Reason.SLOT_COUNT)
