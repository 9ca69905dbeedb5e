"""Follows the links of the best memories to records that no search had found (spec 08 §4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from lithify.assembly.recall.pools import is_retrievable, is_visible
from lithify.assembly.recall.retrieval import make_candidate
from lithify.events import TenantScope
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.profile import Profile
from lithify.memory.ranking.relevance import Signals
from lithify.store import VectorStore, point_id
from lithify.store.memory_record import COLLECTION, MemoryRecord


@dataclass(frozen=True, slots=True)
class Links:
    """Follows targets, which are written as ids of authored records or as point ids of any record (X44)."""

    store: VectorStore
    family: str

    def resolve_targets(self, scope: TenantScope, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Returns the same candidates, with targets as the store names them."""
        return [replace(c, hop_targets=self._ids(scope, c)) if c.hop_targets else c for c in candidates]

    async def fetch(
        self, scope: TenantScope, targets: Sequence[str], session: str, profile: Profile
    ) -> Mapping[str, Candidate]:
        """Reads those that exist and that this session may recall. Raises Unavailable if the store is away."""
        if not targets:
            return {}
        records = await self.store.fetch(scope, COLLECTION, targets)
        memories = [(record, MemoryRecord.from_payload(record.payload)) for record in records]
        return {
            record.id: make_candidate(record.id, memory, session, Signals())
            for record, memory in memories
            if is_retrievable(memory) and is_visible(memory, session, profile)
        }

    def _ids(self, scope: TenantScope, candidate: Candidate) -> tuple[str, ...]:
        return tuple(
            target if is_point_id(target) else point_id(scope.tenant, "authored", target, self.family)
            for target in candidate.hop_targets
        )


def is_point_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
