"""Reads a session as compaction needs it: its active view in the store, and in Redis how far compaction has come."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from redis.asyncio import Redis

from lithify.compaction import SessionKey
from lithify.compactor.records import summary_from_memory, turn_from_memory
from lithify.memory.compaction.commit_steps import AdvanceState, SessionState, StaleGeneration, require_generation
from lithify.memory.compaction.plan import SessionView
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record, VectorStore, Where
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.store.reading import every_record
from lithify.streams import keys, script
from lithify.streams.outage import outages

# A session silent for longer starts at generation 0 again; no job of its earlier life can still be running.
KEPT_S: Final = 400 * 86_400


@dataclass(frozen=True, slots=True)
class CompactionProgress:
    """`tokens` counts what was said since the last run, a turn delivered twice counting twice; `left_raw` names what
    that run looked at and left as it was."""

    state: SessionState = field(default_factory=SessionState)
    tokens: int = 0
    left_raw: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """Holds what was read at one moment; `points` and `memories` are of its turns, by event id."""

    key: SessionKey
    view: SessionView
    points: dict[str, Record]
    memories: dict[str, MemoryRecord]

    @property
    def uncovered_tokens(self) -> int:
        """Counts what no summary stands for yet, the recent tail included."""
        covered = {source for summary in self.view.summaries for source in summary.source_ids}
        return sum(memory.token_estimate for turn, memory in self.memories.items() if turn not in covered)


@dataclass(frozen=True, slots=True)
class SessionStates:
    """Every call raises Unavailable if Redis did not answer, and may be repeated then, but for `add_tokens`: a repeated
    count starts a compaction early, which finds out."""

    redis: Redis
    partitions: int

    async def read(self, key: SessionKey) -> CompactionProgress:
        with outages():
            reply = await cast("Awaitable[dict[bytes, bytes]]", self.redis.hgetall(self._key(key)))
        found = {name.decode(): value.decode() for name, value in reply.items()}
        state = SessionState(
            int(found.get("generation", 0)),
            float(found.get("last_compacted_at", 0)),
            found.get("last_summary_id", ""),
        )
        return CompactionProgress(state, int(found.get("tokens", 0)), found.get("left_raw", ""))

    async def check(self, key: SessionKey, generation: int) -> None:
        """Raises StaleGeneration if another compaction has changed the session."""
        require_generation((await self.read(key)).state, generation)

    async def advance(self, key: SessionKey, step: AdvanceState) -> None:
        """Raises StaleGeneration if another compaction was quicker."""
        to = step.state
        args: list[str | bytes | int] = [step.generation, int(to.last_compacted_at), to.last_summary_id, KEPT_S]
        with outages():
            moved, generation = await script.load("advance").run(self.redis, [self._key(key)], args)
        if not moved:
            raise StaleGeneration(
                f"session was at generation {step.generation} when read and is at {generation} now; compact it again"
            )

    async def settle(self, key: SessionKey, counted: int, left_raw: str | None = None) -> None:
        """Takes off tokens that are dealt with; those counted meanwhile stay."""
        name = self._key(key)
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hincrby(name, "tokens", -counted)
            if left_raw is not None:
                pipe.hset(name, "left_raw", left_raw)
            pipe.expire(name, KEPT_S)
            with outages():
                await pipe.execute()

    async def add_tokens(self, spoken: Mapping[SessionKey, int]) -> dict[SessionKey, int]:
        """Adds what was said and returns what each session has now."""
        async with self.redis.pipeline(transaction=False) as pipe:
            for key, tokens in spoken.items():
                pipe.hincrby(self._key(key), "tokens", tokens)
            for key in spoken:
                pipe.expire(self._key(key), KEPT_S)
            with outages():
                replies = await pipe.execute()
        return dict(zip(spoken, replies, strict=False))

    def _key(self, key: SessionKey) -> str:
        partition = keys.partition_of(key.tenant, key.session, self.partitions)
        return keys.session_state(partition, key.tenant, key.user, key.session)


async def read_session(store: VectorStore, key: SessionKey, state: SessionState) -> Session:
    """Reads the active view; the state was read before, so that a rival's write shows as a stale generation."""
    points: dict[str, Record] = {}
    memories: dict[str, MemoryRecord] = {}
    summaries = []
    async for record in every_record(store, key.scope, COLLECTION, active_view(key.session), with_vectors=[FULL_TIER]):
        memory = MemoryRecord.from_payload(record.payload)
        if memory.kind == "turn" and memory.event_id:
            points[memory.event_id] = record
            memories[memory.event_id] = memory
        elif memory.source_ids:
            summaries.append(summary_from_memory(memory))
    turns = tuple(turn_from_memory(memory) for memory in memories.values())
    summaries.sort(key=lambda summary: (summary.lineage.source_ts_max, summary.id))
    view = SessionView(key.session, turns, tuple(summaries), state)
    return Session(key, view, points, memories)


def active_view(session: str) -> Where:
    return Where().equals("session", session).any_of("kind", ["turn", "summary"]).equals("active", True)
