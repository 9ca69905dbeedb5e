"""Shows by time what was chosen by relevance: neighbours of one conversation stand together as a passage."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a memory was said, and what has taken its place since."""

    key: str
    ts: float | None = None  # milliseconds
    session: str | None = None
    seq: float | None = None  # position in the session
    turn: str | None = None  # another name that a successor may have
    superseded_by: str | None = None


Passage = list[Place]


def order_by_time(places: Sequence[Place], gap: int) -> list[str]:
    """Returns the keys as they are shown: passages by the time of their first turn, each in its own order.

    Turns of one session at most `gap` positions apart are a passage. What was superseded by another one shown here
    stands right behind it, so that the newer is read first.
    """
    behind = _read_successions(places)
    followers: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.key in behind:
            followers[behind[place.key]].append(place)
    leading = [place for place in places if place.key not in behind]
    passages = sorted(_cut_passages(leading, gap), key=lambda passage: _time_key(passage[0]))
    return [key for passage in passages for place in passage for key in _with_followers(place, followers)]


def _read_successions(places: Sequence[Place]) -> dict[str, str]:
    """Returns the key of the shown successor by the key of what it superseded; a circle of them supersedes nothing."""
    names = {place.turn: place.key for place in places if place.turn} | {place.key: place.key for place in places}
    behind = {
        place.key: names[place.superseded_by]
        for place in places
        if place.superseded_by in names and names[place.superseded_by] != place.key
    }
    return {key: successor for key, successor in behind.items() if not _leads_back(key, behind)}


def _leads_back(key: str, behind: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    while key in behind and key not in seen:
        seen.add(key)
        key = behind[key]
    return key in seen


def _cut_passages(places: Iterable[Place], gap: int) -> Iterator[Passage]:
    sessions: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.session is None or place.seq is None:
            yield [place]
        else:
            sessions[place.session].append(place)
    for said in sessions.values():
        yield from _cut_session(sorted(said, key=_position_key), gap)


def _cut_session(said: Sequence[Place], gap: int) -> Iterator[Passage]:
    passage: Passage = []
    for place in said:
        if passage and _position(place) - _position(passage[-1]) > gap:
            yield passage
            passage = []
        passage.append(place)
    yield passage


def _with_followers(place: Place, followers: Mapping[str, Sequence[Place]]) -> Iterator[str]:
    yield place.key
    newest_first = sorted(followers.get(place.key, ()), key=_time_key, reverse=True)
    for follower in newest_first:
        yield from _with_followers(follower, followers)


def _position(place: Place) -> float:
    return 0.0 if place.seq is None else place.seq


def _position_key(place: Place) -> tuple[float, float, str]:
    return _position(place), _time(place), place.key


def _time(place: Place) -> float:
    return -math.inf if place.ts is None else place.ts


def _time_key(place: Place) -> tuple[float, str, float, str]:
    return _time(place), place.session or "", _position(place), place.key
