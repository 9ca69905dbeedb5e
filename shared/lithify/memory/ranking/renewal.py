"""Puts the newer of two hits first where both may state the same thing, and the question is about the present.

No record is marked here: a hit that is taken for a renewal by mistake costs another one its place. What decides is how
alike two hits are, whether the newer tells of a change, and whether they stand alone: what many hits speak of is a
topic and not a value that somebody has, so that the newest of them says nothing more than the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from lithify.memory.bounds import FloatArray
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.cues import asks_about_self, speaker_of, words
from lithify.memory.ranking.profile import RenewalWeights
from lithify.memory.ranking.scoring import RowT
from lithify.memory.ranking.tenses import LONGEST, asks_for_latest, asks_for_past, names_date, tells_of_change
from lithify.memory.sentences import is_question, split_sentences
from lithify.memory.vectors.background import to_usual

HOUR_MS: Final = 3_600_000.0
MINUTE_MS: Final = 60_000.0
_STATED: Final = frozenset({Kind.TURN, Kind.MEMORY})
# Whoever states something anew does so in a sentence or two. A long text has words in common with everything: with 800
# characters, questions about talks of long turns lost .02 of their first hits.
MOST_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class _Question:
    """How eagerly a question wants the newest."""

    is_latest: bool
    is_own: bool


def put_newer_first(ranked: Sequence[RowT], query: str, weights: RenewalWeights) -> list[RowT]:
    """Returns the ranking with each of the first hits before those it seems to state anew.

    A row takes the score of its new place. A hit that is stated anew names the newest one that does (`renewed_by`).
    Nothing moves for a question about a date, or the past, unless for the latest, nor what lacks a time or an imprint.
    """
    question = _Question(asks_for_latest(query), asks_about_self(query, ""))
    is_past = names_date(query) or (asks_for_past(query) and not question.is_latest)
    looked_at = [row for row in ranked[: weights.breadth] if _is_stated(row.candidate)]
    if len(looked_at) < 2 or weights.depth < 2 or is_past:
        return list(ranked)
    renewals = find_renewals(looked_at, question, weights)
    return _reorder(ranked, renewals, weights)


def find_renewals(rows: Sequence[RowT], question: _Question, weights: RenewalWeights) -> dict[str, set[str]]:
    """Returns, for the id of each hit, the ids of those that it seems to state anew."""
    candidates = [row.candidate for row in rows]
    signs = weigh_signs(candidates, weights)
    chance = np.array([_chance(row) for row in rows])
    # Row by row the older, column by column the newer one.
    able = _same_speaker(candidates) & (chance[None, :] >= weights.comparable * chance[:, None])
    np.fill_diagonal(able, val=False)
    either = np.maximum(signs, signs.T)
    crowd = (able & (either >= weights.alike)).sum(axis=1)
    enough = (signs >= weights.least) & (crowd <= weights.crowd)[:, None]
    if question.is_latest:
        enough |= signs >= weights.alike
    elif question.is_own:
        enough |= signs >= weights.certain
    possible = able & _is_later(candidates) & np.array([_states(c.text) for c in candidates])
    # Whoever writes "Ada: ..." keeps a transcript, in which people talk about one thing again and again. Of the older
    # one, for "Correction: ..." is no speaker.
    own = np.array([question.is_own or speaker_of(c.text) is None for c in candidates])[:, None]
    enough |= _are_nearest(np.where(possible, signs, 0.0), weights.margin) & (signs >= weights.mutual) & own
    renewing = possible & enough
    return {
        newer.id: {candidates[older].id for older in np.flatnonzero(renewing[:, place])}
        for place, newer in enumerate(candidates)
        if renewing[:, place].any()
    }


def _are_nearest(signs: FloatArray, margin: float) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Tells which two are clearly nearer to each other than to any other: a value and its renewal, in any crowd."""
    second_newer = np.partition(signs, -2, axis=1)[:, -2]
    second_older = np.partition(signs, -2, axis=0)[-2, :]
    nearest: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = signs >= margin + np.maximum(
        second_newer[:, None], second_older[None, :]
    )
    return nearest


def weigh_signs(candidates: Sequence[Candidate], weights: RenewalWeights) -> FloatArray:
    """Returns how much says that the hit of a column states that of a row anew."""
    imprints = [candidate.imprint for candidate in candidates if candidate.imprint is not None]
    size = len(imprints)
    change = np.array([tells_of_change(candidate.text) for candidate in candidates], dtype=np.float64)
    common = np.zeros((size, size))
    lost = np.zeros((size, size))
    for older, one in enumerate(imprints):
        for newer, other in enumerate(imprints):
            common[older, newer] = len(one.words & other.words) / max(1, min(len(one.words), len(other.words)))
            lost[older, newer] = max(0, len(one.asked - other.asked) - 1)
    meaning = _cosines([imprint.vector for imprint in imprints], imprints[0].background.documents)
    signs: FloatArray = weights.meaning * meaning + weights.words * common + weights.change * change[None, :]
    return signs - weights.lost * lost


def _cosines(vectors: Sequence[FloatArray | None], background: float) -> FloatArray:
    """Returns the cosine of each pair, at the level the weights were chosen for; 0 where one has no vector."""
    length = max((len(vector) for vector in vectors if vector is not None), default=1)
    rows = np.array([np.zeros(length) if vector is None else vector for vector in vectors], dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units = rows / np.where(norms > 0.0, norms, 1.0)
    known = norms > 0.0
    cosines: FloatArray = np.where(known & known.T, to_usual(units @ units.T, background), 0.0)
    return cosines


def _is_stated(candidate: Candidate) -> bool:
    is_said = candidate.kind in _STATED and len(candidate.text) <= MOST_CHARACTERS
    return is_said and candidate.ts is not None and candidate.imprint is not None


def _chance(row: RowT) -> float:
    helpful = row.candidate.signals.helpful
    return row.score if helpful is None else helpful


def _same_speaker(candidates: Sequence[Candidate]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Tells whose words are the same person's; what a host wrote without a role is taken for the user's."""
    roles = [candidate.role or "user" for candidate in candidates]
    names = [speaker_of(candidate.text) for candidate in candidates]
    return np.array(
        [
            [
                role == other and (name is None or second is None or name == second)
                for other, second in zip(roles, names, strict=True)
            ]
            for role, name in zip(roles, names, strict=True)
        ]
    )


def _is_later(candidates: Sequence[Candidate]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Tells which were said later, on another occasion, in other words.

    A conversation goes on, it does not renew itself; and what was written in one go has no order.
    """
    times = np.array([candidate.ts or 0.0 for candidate in candidates])
    sessions = [candidate.session for candidate in candidates]
    said = [words(candidate.text[:LONGEST]) for candidate in candidates]
    apart = np.array([[None not in (one, other) and one != other for other in sessions] for one in sessions])
    anew = np.array([[one != other for other in said] for one in said])
    gap = times[None, :] - times[:, None]
    later: np.ndarray[tuple[int, int], np.dtype[np.bool_]] = anew & (gap >= np.where(apart, MINUTE_MS, HOUR_MS))
    return later


def _states(text: str) -> bool:
    """Returns whether a text does more than ask."""
    return not all(is_question(sentence) for sentence in split_sentences(text, ()))


def _reorder(ranked: Sequence[RowT], renewals: dict[str, set[str]], weights: RenewalWeights) -> list[RowT]:
    depth = weights.depth
    order: list[RowT] = []
    for row in ranked[:depth]:
        renewed = renewals.get(row.candidate.id, set())
        place = next((k for k, ahead in enumerate(order) if ahead.candidate.id in renewed), len(order))
        order.insert(place, row)
    newest = _name_newest(order, renewals, weights)
    head: list[RowT] = [
        row._replace(score=ahead.score, candidate=replace(row.candidate, renewed_by=newest.get(row.candidate.id)))
        for row, ahead in zip(order, ranked, strict=False)
    ]
    return head + list(ranked[depth:])


def _name_newest(rows: Sequence[RowT], renewals: dict[str, set[str]], weights: RenewalWeights) -> dict[str, str]:
    """Returns, for the id of each hit that is stated anew, that of the newest one which does.

    Only where the two are alike: a word like "now" lets a hit go first, but does not take others out of their time.
    """
    by_time = sorted((row.candidate for row in rows if row.candidate.imprint), key=lambda one: one.ts or 0.0)
    signs = weigh_signs(by_time, weights._replace(change=0.0)) if by_time else np.zeros((0, 0))
    return {
        older.id: newer.id
        for column, newer in enumerate(by_time)
        for row, older in enumerate(by_time)
        if older.id in renewals.get(newer.id, ()) and signs[row, column] >= weights.alike
    }
