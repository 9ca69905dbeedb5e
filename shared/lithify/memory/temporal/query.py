"""Recognises questions about time and guards the switch to the coverage selector (spec 09 §1 and §7)."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from lithify.memory.ranking.cues import asks_when
from lithify.memory.temporal.slots import MAX_SLOTS, event_slots, offers_two_sides

XI_THRESHOLD = 0.3
_XI_SATURATION = 1.5


class Label(StrEnum):
    HOW_MANY_DAYS = "how many days"
    HOW_LONG = "how long"
    BEFORE_OR_AFTER = "before or after"
    FIRST_OR_EARLIER = "first or earlier"
    SINCE_OR_BETWEEN = "since or between"
    WHEN_DID = "when did"


class Reason(StrEnum):
    """Why the guard let the coverage selector run, or did not; traced with every assembly."""

    INACTIVE = "inactive"
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
    comparison: bool  # "which came first, X or Y": both sides need a witness, so the reserve grows (§8)


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


# "which came first" needs no pattern of its own: its last word fires the label.
_CUES: tuple[tuple[Label, re.Pattern[str], float], ...] = (
    (Label.HOW_MANY_DAYS, _cue(r"how\s+many\s+days"), 1.0),
    (Label.HOW_LONG, _cue(r"how\s+long"), 0.9),
    (Label.BEFORE_OR_AFTER, _cue("before|after"), 0.8),
    (Label.FIRST_OR_EARLIER, _cue("first|earlier"), 0.8),
    (Label.SINCE_OR_BETWEEN, _cue("since|between"), 0.7),
    (Label.WHEN_DID, _cue(r"when\s+did"), 0.7),
)
_ORDER = _cue(r"before\s+or\s+after|(?:came|happened|comes|was)\s+(?:first|earlier)")
_DISTANCE_LABELS = frozenset({Label.HOW_MANY_DAYS, Label.HOW_LONG, Label.BEFORE_OR_AFTER, Label.SINCE_OR_BETWEEN})


def temporal_labels(query: str) -> tuple[Label, ...]:
    return tuple(label for label, pattern, _ in _CUES if pattern.search(query))


def temporal_indicator(labels: tuple[Label, ...]) -> float:
    """ξ in [0, 1]; each label counts once however often it occurs."""
    return min(sum(weight for label, _, weight in _CUES if label in labels) / _XI_SATURATION, 1.0)


def read_temporal_query(query: str, threshold: float = XI_THRESHOLD, drop_filler: bool = True) -> TemporalQuery:
    """All that the words of a question say about time; ``drop_filler`` as in `event_slots`."""
    labels = temporal_labels(query)
    xi = temporal_indicator(labels)
    slots = event_slots(query, drop_filler)
    guard = judge(labels, xi, len(slots), threshold)
    comparison = guard.reason is Reason.EARLIEST_EVENT and offers_two_sides(query)
    return TemporalQuery(labels, xi, slots, guard, comparison)


def asks_for_time(query: str) -> bool:
    """Whether a time, or an order in time, is wanted: "what did she buy after the fair?" only names an event."""
    return asks_when(query) or _ORDER.search(query) is not None or offers_two_sides(query)


def only_if_asked(read: TemporalQuery, query: str) -> TemporalQuery:
    """The same with a guard that also wants the question to ask for a time."""
    if not read.guard.applies or asks_for_time(query):
        return read
    return replace(read, guard=Guard(False, Reason.NO_TIME_ASKED), comparison=False)


def judge(labels: tuple[Label, ...], xi: float, slot_count: int, threshold: float = XI_THRESHOLD) -> Guard:
    """The weakest label alone passes the threshold, so ξ must not switch selectors by itself (X47)."""
    if xi < threshold:
        return Guard(False, Reason.INACTIVE)
    if _DISTANCE_LABELS.intersection(labels):
        return _verdict(slot_count == 2, Reason.TWO_EVENTS)
    if Label.FIRST_OR_EARLIER in labels:
        return _verdict(1 <= slot_count <= MAX_SLOTS, Reason.EARLIEST_EVENT)
    return Guard(False, Reason.NO_STRONG_LABEL)


def _verdict(applies: bool, reason: Reason) -> Guard:
    return Guard(applies, reason if applies else Reason.SLOT_COUNT)
