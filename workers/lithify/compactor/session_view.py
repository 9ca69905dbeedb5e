"""Reads the active view of a session as compaction plans with it: turns with their vectors, and summaries."""

from dataclasses import dataclass

from lithify.compaction import SessionKey
from lithify.compactor.records import summary_of_memory, turn_of
from lithify.memory.compaction.commit_steps import SessionState
from lithify.memory.compaction.plan import SessionView
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record


@dataclass(frozen=True, slots=True)
class Session:
    """What was read at one moment; `points` and `memories` are of its turns, by event id."""

    key: SessionKey
    view: SessionView
    points: dict[str, Record]
    memories: dict[str, MemoryRecord]

    @property
    def uncovered_tokens(self) -> int:
        """What no summary stands for yet, the recent tail included."""
        covered = {source for summary in self.view.summaries for source in summary.source_ids}
        return sum(memory.token_estimate for turn, memory in self.memories.items() if turn not in covered)


async def read_session(store: VectorStore, key: SessionKey, state: SessionState) -> Session:
    """The state is read before, so that a rival's write in between shows as a stale generation."""
    points: dict[str, Record] = {}
    memories: dict[str, MemoryRecord] = {}
    summaries = []
    async for record in every_record(store, key.scope, COLLECTION, active_view(key.session), [FULL_TIER]):
        memory = MemoryRecord.from_payload(record.payload)
        if memory.kind == "turn" and memory.event_id:
            points[memory.event_id], memories[memory.event_id] = record, memory
        elif memory.source_ids:
            summaries.append(summary_of_memory(memory))
    turns = tuple(turn_of(memory) for memory in memories.values())
    summaries.sort(key=lambda summary: (summary.lineage.source_ts_max, summary.id))
    return Session(key, SessionView(key.session, turns, tuple(summaries), state), points, memories)


def active_view(session: str) -> Where:
    return Where().equals("session", session).any_of("kind", ["turn", "summary"]).equals("active", True)
