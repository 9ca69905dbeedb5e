"""Durable memory as it will be once a batch is written: each turn has to see what the turns before it left there."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lithify.gatekeeper.turn import StoredTurn
from lithify.gatekeeper.verdict import Verdict
from lithify.memory.gating.gate import MEMORY_NEIGHBOURS
from lithify.store import Hit


@dataclass(frozen=True, slots=True)
class Near:
    """A durable memory near a turn; `mentions` are the later turns that were merged into it."""

    id: str
    score: float
    text: str
    mentions: frozenset[str]


class Shelf:
    """What a batch has promoted so far."""

    def __init__(self) -> None:
        self._made: defaultdict[tuple[str, str], list[StoredTurn]] = defaultdict(list)
        self._merged: defaultdict[str, set[str]] = defaultdict(set)

    def put(self, verdict: Verdict) -> None:
        turn = verdict.turn
        if verdict.makes_memory:
            self._made[turn.owner].append(turn)
        elif verdict.joins is not None:
            self._merged[verdict.joins].add(turn.event_id)

    def nearest(self, turn: StoredTurn, hits: Iterable[Hit]) -> list[Near]:
        """The five nearest of what the store found and what this batch made, best first."""
        stored = [self._near(hit.id, hit.score, hit.payload["text"], hit.payload.get("mentions", ())) for hit in hits]
        made = [
            self._near(other.memory_id, float(np.dot(turn.vector, other.vector)), other.text)
            for other in self._made[turn.owner]
        ]
        return sorted([*stored, *made], key=lambda near: (-near.score, near.id))[:MEMORY_NEIGHBOURS]

    def _near(self, id_: str, score: float, text: str, mentions: Iterable[str] = ()) -> Near:
        return Near(id_, score, text, frozenset(mentions) | self._merged[id_])


def similarities(near: Sequence[Near], event_id: str) -> list[float]:
    """A memory counts as often as it was said: merged copies must saturate the gate as separate ones would.

    Without that a sentence said every day would be let in every day, for one memory never saturates it.
    """
    counted = [one.score for one in near for _ in range(1 + len(one.mentions - {event_id}))]
    return counted[:MEMORY_NEIGHBOURS]
