"""The two searches the gate makes for a turn: how often it was said before, and how well it is known (spec 04 §2)."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lithify.batching import batched
from lithify.events import TenantScope
from lithify.gatekeeper.turn import FULL_TIER, StoredTurn
from lithify.memory.gating.gate import MEMORY_NEIGHBOURS, TURN_NEIGHBOURS
from lithify.memory.gating.signals import REPEATED
from lithify.store import Hit, Query, VectorStore, Where
from lithify.store.memory_record import COLLECTION

# Qdrant Edge holds the interpreter lock while it searches: this many turns hold everything else up for 5 to 10 ms.
CHUNK: Final = 8

# A weaker hit is no repetition, so it need not travel. A little below the limit, which the engines leave out.
WORTH_SENDING: Final = REPEATED - 0.001


@dataclass(frozen=True, slots=True)
class Found:
    """Similar turns of the same user, and similar durable memories; best first."""

    turns: list[Hit]
    memories: list[Hit]


def searches(turn: StoredTurn) -> tuple[Query, Query]:
    """Nothing that stems from the turn itself is found: neither the turn nor its durable copy (X02)."""
    _, user = turn.owner
    others = Where().equals("user", user).differs("event_id", turn.event_id)
    # Only what came before: the decision must not depend on how far embedding has run ahead of the gate.
    said = others.equals("kind", "turn").equals("role", "user").between("ts", highest=turn.ts)
    known = others.equals("kind", "memory").equals("scope", "user")
    return (
        Query(said, FULL_TIER, turn.vector, TURN_NEIGHBOURS, least_score=WORTH_SENDING),
        Query(known, FULL_TIER, turn.vector, MEMORY_NEIGHBOURS),
    )


async def search_all(store: VectorStore, turns: Iterable[StoredTurn]) -> dict[str, Found]:
    """What was found for each turn, by its record id; several turns of a tenant share a round trip."""
    found: dict[str, Found] = {}
    for scope, chunk in _chunks(turns):
        queries = [query for turn in chunk for query in searches(turn)]
        answers = iter(await store.query_batch(scope, COLLECTION, queries))
        found |= {turn.record.id: Found(next(answers), next(answers)) for turn in chunk}
    return found


def _chunks(turns: Iterable[StoredTurn]) -> Iterator[tuple[TenantScope, Sequence[StoredTurn]]]:
    by_scope: defaultdict[TenantScope, list[StoredTurn]] = defaultdict(list)
    for turn in turns:
        by_scope[turn.scope].append(turn)
    for scope, own in by_scope.items():
        yield from ((scope, chunk) for chunk in batched(own, CHUNK))
