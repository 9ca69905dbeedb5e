"""What stands near a turn: what the store finds for it, and what the turns before it in the same batch have made."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from lithify.batching import batched
from lithify.events import TenantScope
from lithify.gatekeeper.gated_turn import GatedTurn
from lithify.gatekeeper.turn import StoredTurn
from lithify.memory.gating.gate_profile import NEIGHBOUR_LIMITS, NeighbourLimits
from lithify.memory.vectors.background import USUAL, from_usual
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Hit, Query, VectorStore, Where
from lithify.store.memory_record import COLLECTION

# Qdrant Edge holds the interpreter lock while it searches: this many turns hold everything else up for 5 to 10 ms.
CHUNK: Final = 8

# A weaker hit is no repetition, so it need not travel. A little below the limit, which the engines leave out.
MARGIN: Final = 0.001


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Similar turns of the same user, and similar durable memories, as the store found them; best first."""

    turns: list[Hit]
    memories: list[Hit]


def make_queries(
    turn: StoredTurn, limits: NeighbourLimits = NEIGHBOUR_LIMITS, background: float = USUAL
) -> tuple[Query, Query]:
    """Asks how often the turn was said before, and how well it is known (spec 04 §2).

    Nothing that stems from the turn itself is found: neither the turn nor its durable copy (X02).
    """
    _, user = turn.owner
    others = Where().equals("user", user).differs("event_id", turn.event_id)
    # Only what came before: the decision must not depend on how far embedding has run ahead of the gate.
    said = others.equals("kind", "turn").equals("role", "user").between("ts", highest=turn.ts)
    known = others.equals("kind", "memory").equals("scope", "user")
    return (
        Query(said, FULL_TIER, turn.vector, limits.turns, least_score=from_usual(limits.repeated, background) - MARGIN),
        Query(known, FULL_TIER, turn.vector, limits.memories),
    )


async def find_neighbours(
    store: VectorStore,
    turns: Iterable[StoredTurn],
    limits: NeighbourLimits = NEIGHBOUR_LIMITS,
    background: float = USUAL,
) -> dict[str, Neighbours]:
    """Searches for every turn and returns what was found by record id; turns of a tenant share round trips."""
    found: dict[str, Neighbours] = {}
    for scope, chunk in _chunks(turns):
        queries = [query for turn in chunk for query in make_queries(turn, limits, background)]
        answers = iter(await store.query_batch(scope, COLLECTION, queries))
        found |= {turn.record.id: Neighbours(next(answers), next(answers)) for turn in chunk}
    return found


def _chunks(turns: Iterable[StoredTurn]) -> Iterator[tuple[TenantScope, Sequence[StoredTurn]]]:
    by_scope: defaultdict[TenantScope, list[StoredTurn]] = defaultdict(list)
    for turn in turns:
        by_scope[turn.scope].append(turn)
    for scope, own in by_scope.items():
        yield from ((scope, chunk) for chunk in batched(own, CHUNK))


@dataclass(frozen=True, slots=True)
class NearMemory:
    """A durable memory near a turn; `mentions` are the later turns that were merged into it."""

    id: str
    score: float
    text: str
    mentions: frozenset[str]


class BatchMemory:
    """Durable memory as it will be once a batch is written: each turn has to see what those before it left there."""

    def __init__(self, limits: NeighbourLimits = NEIGHBOUR_LIMITS) -> None:
        self._limits = limits
        self._made: defaultdict[tuple[str, str], list[StoredTurn]] = defaultdict(list)
        self._merged: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, gated: GatedTurn) -> None:
        turn = gated.turn
        if gated.makes_memory:
            self._made[turn.owner].append(turn)
        elif gated.joins is not None:
            self._merged[gated.joins].add(turn.event_id)

    def find_nearest(self, turn: StoredTurn, hits: Iterable[Hit]) -> list[NearMemory]:
        """Returns the nearest of what the store found and what this batch made, best first."""
        stored = [self._near(hit.id, hit.score, hit.payload["text"], hit.payload.get("mentions", ())) for hit in hits]
        made = [
            self._near(other.memory_id, float(np.dot(turn.vector, other.vector)), other.text)
            for other in self._made[turn.owner]
        ]
        return sorted([*stored, *made], key=lambda near: (-near.score, near.id))[: self._limits.memories]

    def _near(self, id_: str, score: float, text: str, mentions: Iterable[str] = ()) -> NearMemory:
        return NearMemory(id_, score, text, frozenset(mentions) | self._merged[id_])


def repeated_scores(
    near: Sequence[NearMemory], event_id: str, limits: NeighbourLimits = NEIGHBOUR_LIMITS
) -> list[float]:
    """Returns each memory's score as often as it was said: merged copies must saturate the gate as separate ones would.

    Without that a sentence said every day would be let in every day, for one memory never saturates it.
    """
    counted = [memory.score for memory in near for _ in range(1 + len(memory.mentions - {event_id}))]
    return counted[: limits.memories]
