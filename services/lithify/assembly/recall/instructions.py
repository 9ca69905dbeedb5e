"""Reads the standing instructions of a user: all of them, whatever is asked, in an order that no question changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lithify.assembly.recall.pools import LASTING
from lithify.assembly.recall.retrieval import make_candidate
from lithify.events import TenantScope
from lithify.memory.ranking.candidate import Candidate, Kind
from lithify.memory.ranking.relevance import Signals
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord

# Nobody can follow more; the newest are shown first while their share of the budget lasts.
MOST: Final = 512


@dataclass(frozen=True, slots=True)
class StandingInstructions:
    """Reads what was kept as guidance, oldest first."""

    store: VectorStore

    async def read(self, scope: TenantScope, *, general: bool = False) -> list[Candidate]:
        """Returns the instructions that still hold, on request those alone that bear on every question.

        Raises Unavailable if the store is away.
        """
        where = Where().equals("kind", Kind.GUIDANCE.value).equals("active", True).any_of("scope", LASTING)
        page = await self.store.scroll(scope, COLLECTION, where, limit=MOST)
        return distinct_instructions(one for one in page.records if not general or one.payload.get("general"))


def distinct_instructions(records: Iterable[Record]) -> list[Candidate]:
    """Returns each instruction that still holds, once, where it was said last, oldest first."""
    candidates = (make_candidate(r.id, MemoryRecord.from_payload(r.payload), None, Signals()) for r in records)
    holding = (one for one in candidates if one.superseded_by is None)
    latest = {" ".join(one.text.split()): one for one in sort_by_time(holding)}
    return sort_by_time(latest.values())


def sort_by_time(candidates: Iterable[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda one: (one.ts or 0.0, one.source_turn or "", one.id))
