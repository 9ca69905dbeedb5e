"""Parts of a long text that fit: the sentences around what was asked, or its beginning and its end."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from lithify.memory.lexical.word_lists import STOP_WORDS
from lithify.memory.ranking.cues import words

GAP: Final = "[…]"
"""Stands for what an excerpt leaves out."""

Fits = Callable[[str], bool]
Span = tuple[int, int]

# Every part of it fails at once or matches, so that no text takes more than one pass.
_END = re.compile(r"(?<=[.!?…؟।])[\"'”’)\]]{0,4}\s+|[。！？]+[\"”’」』）]*\s*|[\n\r\u2028\u2029]\s*")
# Characters of the longest piece that is tried first, and of the shortest; a piece is a sentence where it can be.
_LONGEST: Final = 240
_SHORTEST: Final = 6
# Characters that are read closely, and of the stretches of which a longer text keeps its best ones.
_READABLE: Final = 48_000
_STRETCH: Final = 4_000
# How much of a match a piece keeps for each piece between them.
_FADING: Final = 0.6
_WORD_CHARS: Final = 4  # of a word decide; endings differ between a question and its answer
_BEST: Final = 8  # pieces of which smaller ones are made
_MISSES: Final = 3  # pieces in a row that do not fit end the search for smaller ones
_JOINER: Final = "\u200d"
_VIRAMA: Final = 9
# Code points of what a reader sees as one character; a longer heap of marks is no writing, and may be split.
_CHARACTER: Final = 64

Rank = Callable[[str, Sequence[Span], str], list[int]]


def cut_around(text: str, query: str, fits: Fits) -> str | None:
    """Returns the sentences that match the query best with those around them; None if nothing fits.

    Without a match it begins where the text does.
    """
    return _cut(text, query, fits, _rank_matches, least=1)


def show_part(text: str, part: str, fits: Fits) -> str | None:
    """Returns a part of a text with marks where something is left out; None if it does not fit or is no part of it."""
    start = text.find(part)
    if start < 0:
        return None
    shown = _render(text, [(start, start + len(part))], [0])
    return shown if fits(shown) else None


def cut_middle(text: str, query: str, fits: Fits) -> str | None:
    """Returns the beginning and the end of a text, and of the rest what matches the query; None if nothing fits."""
    return _cut(text, query, fits, _rank_ends, least=2)


def _cut(text: str, query: str, fits: Fits, rank: Rank, least: int) -> str | None:
    """Tries smaller and smaller pieces until the `least` best ones fit together, else returns what fitted first."""
    stretches = _find_stretches(text, query, rank)
    first: str | None = None
    size = _LONGEST
    while size >= _SHORTEST:
        pieces = [piece for start, end in stretches for piece in _cut_stretch(text, start, end, size)]
        ranked = rank(text, pieces, query)
        chosen = _choose(text, pieces, ranked, fits)
        part = _render(text, pieces, chosen) if chosen else None
        if chosen.issuperset(ranked[:least]):
            return part
        first = first or part
        # What fits is a part of the best.
        stretches = sorted(pieces[index] for index in ranked[:_BEST])
        size //= 2
    return first


def _find_stretches(text: str, query: str, rank: Rank) -> list[Span]:
    """Returns what is read closely: all of a text, or the best parts of a very long one, in their order."""
    if len(text) <= _READABLE:
        return [(0, len(text))]
    parts = list(_halve(text, 0, len(text), _STRETCH))
    return [parts[place] for place in sorted(rank(text, parts, query)[: _READABLE // _STRETCH])]


def _choose(text: str, pieces: Sequence[Span], ranked: Sequence[int], fits: Fits) -> set[int]:
    """Returns the best pieces that fit together."""
    count = _count_fitting(text, pieces, ranked, fits)
    chosen = set(ranked[:count])
    misses = 0
    for index in ranked[count:]:
        if fits(_render(text, pieces, chosen | {index})):
            chosen.add(index)
            misses = 0
            continue
        misses += 1
        if misses >= _MISSES:
            break
    return chosen


def _count_fitting(text: str, pieces: Sequence[Span], ranked: Sequence[int], fits: Fits) -> int:
    """Returns how many of the best pieces fit, found by doubling and halving: each trial renders all of them."""
    low, step = 0, 1
    while low + step <= len(ranked) and fits(_render(text, pieces, ranked[: low + step])):
        low += step
        step *= 2
    while step > 1:
        step //= 2
        if low + step <= len(ranked) and fits(_render(text, pieces, ranked[: low + step])):
            low += step
    return low


def _render(text: str, pieces: Sequence[Span], chosen: Iterable[int]) -> str:
    """Joins the chosen pieces in their order, with a mark wherever something is left out."""
    runs: list[Span] = []
    for start, end in sorted(pieces[index] for index in chosen):
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    shown = [text[start:end].strip() for start, end in runs]
    before = [GAP] if runs and runs[0][0] > 0 else []
    behind = [GAP] if runs and runs[-1][1] < len(text) else []
    return " ".join([*before, f" {GAP} ".join(shown), *behind])


def find_pieces(text: str, size: int) -> Iterator[Span]:
    """Yields the sentences and lines of a text, which together are all of it, none longer than about `size`."""
    return _cut_stretch(text, 0, len(text), size)


def _cut_stretch(text: str, start: int, end: int, size: int) -> Iterator[Span]:
    for stop in (*(match.end() for match in _END.finditer(text, start, end)), end):
        if stop > start:
            yield from _halve(text, start, stop, size)
            start = stop


def _halve(text: str, start: int, end: int, size: int) -> Iterator[Span]:
    while end - start > size:
        cut = _find_cut(text, start, start + size)
        if cut >= end:
            break
        yield start, cut
        start = cut
    yield start, end


def _find_cut(text: str, start: int, end: int) -> int:
    """Returns the last place up to `end` where a word ends, else where no character as it is seen is split."""
    for at in range(end, start + (end - start) // 2, -1):
        if text[at - 1].isspace():
            return at
    at = end
    while at > start and end - at < _CHARACTER and is_joint(text, at, start):
        at -= 1
    if at > start and end - at < _CHARACTER:
        return at
    at = end
    while at < len(text) and at - end < _CHARACTER and is_joint(text, at, start):
        at += 1
    return at


def is_joint(text: str, at: int, start: int = 0) -> bool:
    """Says whether a cut before this character would split what a reader sees as one; `start` is a sound cut."""
    before, after = text[at - 1], text[at]
    if after == _JOINER or before == _JOINER or before + after == "\r\n":
        return True
    if unicodedata.category(after).startswith("M") or unicodedata.combining(before) == _VIRAMA:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f" or "\u1160" <= after <= "\u11ff":
        return True
    return _is_flag(before) and _is_flag(after) and _count_flags(text, start, at) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _count_flags(text: str, start: int, at: int) -> int:
    count = 0
    while at - count > start and _is_flag(text[at - count - 1]):
        count += 1
    return count


def _rank_matches(text: str, pieces: Sequence[Span], query: str) -> list[int]:
    """Ranks pieces by what they, and those near them, share with the query; rare words count more."""
    weights = _weigh(text, pieces, query)
    for order in (range(1, len(weights)), range(len(weights) - 2, -1, -1)):
        step = order.step
        for index in order:
            weights[index] = max(weights[index], weights[index - step] * _FADING)
    return sorted(range(len(pieces)), key=lambda index: (-weights[index], index))


def _rank_ends(text: str, pieces: Sequence[Span], query: str) -> list[int]:
    count = len(pieces)
    weights = _weigh(text, pieces, query)
    matching = [index for index in sorted(range(count), key=lambda i: (-weights[i], i)) if weights[index] > 0.0]
    inwards = sorted(range(count), key=lambda index: (min(index, 2 * (count - 1 - index)), index))
    return list(dict.fromkeys((*inwards[:2], *matching[:2], *inwards)))


def _weigh(text: str, pieces: Sequence[Span], query: str) -> list[float]:
    lowered = [text[start:end].lower() for start, end in pieces]
    weights = [0.0] * len(pieces)
    for stem in _stems(query):
        found = [index for index, said in enumerate(lowered) if stem in said]
        for index in found:
            weights[index] += math.log(1.0 + len(pieces) / len(found))
    return weights


def _stems(query: str) -> list[str]:
    meant = [word for word in words(query) if word not in STOP_WORDS]
    return list(dict.fromkeys(word[: max(_WORD_CHARS, len(word) * 2 // 3)] for word in meant))
