"""Reads the summaries of turns that were found, for a prompt that has no room for all of them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lithify.assembly.recall.retrieval import make_candidate
from lithify.events import TenantScope
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.relevance import Signals
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION, MemoryRecord

# A summary of one turn that was found says less than the turn.
LEAST_TURNS: Final = 2


@dataclass(frozen=True, slots=True)
class TurnSummary:
    """A summary and the event ids of the turns it covers."""

    candidate: Candidate
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Summaries:
    """Reads summaries by what was compacted into them; no search has to find them."""

    store: VectorStore

    async def read(self, scope: TenantScope, found: Iterable[MemoryRecord], session: str) -> list[TurnSummary]:
        """Returns the summaries of several of the turns. Raises Unavailable if the store is away."""
        names = name_summaries(found)
        records = await self.store.fetch(scope, COLLECTION, names) if names else []
        memories = [(record.id, MemoryRecord.from_payload(record.payload)) for record in records]
        return [
            TurnSummary(make_candidate(key, memory, session, Signals()), frozenset(memory.source_ids))
            for key, memory in memories
            if memory.active
        ]


def name_summaries(found: Iterable[MemoryRecord]) -> list[str]:
    """Returns the ids of summaries that several of the records were compacted into."""
    counts = Counter(memory.compacted_into for memory in found if memory.compacted_into)
    return sorted(name for name, count in counts.items() if count >= LEAST_TURNS)
