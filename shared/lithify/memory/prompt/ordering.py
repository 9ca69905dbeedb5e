"""Shows by time what was chosen by relevance: neighbours of one conversation stand together as a passage."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Occasion:
    """Where and when a memory was said, and what says it anew."""

    key: str
    ts: float | None = None  # milliseconds
    session: str | None = None
    seq: float | None = None  # position in the session
    turn: str | None = None  # another name that a successor may have
    superseded_by: str | None = None


Passage = list[Occasion]


def order_by_time(occasions: Sequence[Occasion], gap: int) -> list[str]:
    """Returns the keys as they are shown: passages by the time of their first turn, each in its own order.

    Turns of one session at most `gap` positions apart are a passage. What was superseded by another one shown here
    stands right behind it, so that the newer is read first.
    """
    behind = _read_successions(occasions)
    followers: dict[str, list[Occasion]] = defaultdict(list)
    for occasion in occasions:
        if occasion.key in behind:
            followers[behind[occasion.key]].append(occasion)
    leading = [occasion for occasion in occasions if occasion.key not in behind]
    passages = sorted(_cut_passages(leading, gap), key=lambda passage: _time_key(passage[0]))
    return [key for passage in passages for occasion in passage for key in _with_followers(occasion, followers)]


def _read_successions(occasions: Sequence[Occasion]) -> dict[str, str]:
    """Returns the key of the shown successor by the key of what it superseded; a circle of them supersedes nothing."""
    names = {occasion.turn: occasion.key for occasion in occasions if occasion.turn} | {
        occasion.key: occasion.key for occasion in occasions
    }
    behind = {
        occasion.key: names[occasion.superseded_by]
        for occasion in occasions
        if occasion.superseded_by in names and names[occasion.superseded_by] != occasion.key
    }
    return {key: successor for key, successor in behind.items() if not _leads_back(key, behind)}


def _leads_back(key: str, behind: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    while key in behind and key not in seen:
        seen.add(key)
        key = behind[key]
    return key in seen


def _cut_passages(occasions: Iterable[Occasion], gap: int) -> Iterator[Passage]:
    sessions: dict[str, list[Occasion]] = defaultdict(list)
    for occasion in occasions:
        if occasion.session is None or occasion.seq is None:
            yield [occasion]
        else:
            sessions[occasion.session].append(occasion)
    for said in sessions.values():
        yield from _cut_session(sorted(said, key=_position_key), gap)


def _cut_session(said: Sequence[Occasion], gap: int) -> Iterator[Passage]:
    passage: Passage = []
    for occasion in said:
        if passage and _position(occasion) - _position(passage[-1]) > gap:
            yield passage
            passage = []
        passage.append(occasion)
    yield passage


def _with_followers(occasion: Occasion, followers: Mapping[str, Sequence[Occasion]]) -> Iterator[str]:
    yield occasion.key
    newest_first = sorted(followers.get(occasion.key, ()), key=_time_key, reverse=True)
    for follower in newest_first:
        yield from _with_followers(follower, followers)


def _position(occasion: Occasion) -> float:
    return 0.0 if occasion.seq is None else occasion.seq


def _position_key(occasion: Occasion) -> tuple[float, float, str]:
    return _position(occasion), _time(occasion), occasion.key


def _time(occasion: Occasion) -> float:
    return -math.inf if occasion.ts is None else occasion.ts


def _time_key(occasion: Occasion) -> tuple[float, str, float, str]:
    return _time(occasion), occasion.session or "", _position(occasion), occasion.key
