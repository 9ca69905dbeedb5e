"""Builds the memory part of the next prompt; answers with what it has when a dependency is down."""

from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis

from lithify.assembly.context import Context, compose_context
from lithify.assembly.retrieval import Question, Retriever
from lithify.assembly.schema import AssembleRequest
from lithify.errors import LithifyError
from lithify.events import Event, TenantScope
from lithify.events.turn import TEXT_PARTS
from lithify.memory.prompt.budget import memory_budget
from lithify.memory.prompt.tail import Turn
from lithify.memory.ranking.keywords import keywords
from lithify.memory.ranking.profile import Profile
from lithify.store import Where
from lithify.streams.tail import read_tail


@dataclass(frozen=True, slots=True)
class Assembler:
    retriever: Retriever
    redis: Redis
    partitions: int
    tail_turns: int
    profile: Profile

    async def assemble(self, scope: TenantScope, request: AssembleRequest, now_ms: int) -> "Assembled":
        """Never raises because memory is down; `degraded` says what could not be consulted."""
        query = request.query if request.query is not None else last_words(request)
        turns, tail_missing = await self._tail(scope, request.session)
        found = await self.retriever.retrieve(scope, self._question(query, request))
        tau = memory_budget(request.token_budget, self.profile)
        visible = host_ids(request)
        context = compose_context(
            [turn for turn in turns if turn.id not in visible],
            [c for c in found.candidates if c.source_turn not in visible],
            keywords(query),
            tau,
            self.profile,
            now_ms,
        )
        return Assembled(query, context, [*context.reasons, *tail_missing, *found.degraded])

    async def _tail(self, scope: TenantScope, session: str) -> tuple[list[Turn], list[str]]:
        try:
            events = await read_tail(self.redis, scope, session, self.tail_turns, self.partitions)
        except LithifyError as error:
            return [], [f"the recent turns cannot be read: {error}"]
        return [session_turn(event) for event in events], []

    def _question(self, query: str, request: AssembleRequest) -> Question:
        where = Where().equals("active", True)
        if self.profile.history == "session":
            where = where.equals("session", request.session)
        return Question(
            text=query,
            where=where,
            session=request.session,
            depth=self.profile.coarse_size,
            dense_by_maximum=self.profile.dense_by_maximum,
        )


@dataclass(frozen=True, slots=True)
class Assembled:
    query: str
    context: Context
    degraded: list[str]


def session_turn(event: Event) -> Turn:
    return Turn(
        id=event.event_id,
        ts=event.ts,
        role=event.role,
        text=event.text,
        seq=event.seq or 0,
        bundle_id=event.bundle_id or "",
        reply_to=event.reply_to or "",
        user=event.user,
    )


def host_ids(request: AssembleRequest) -> frozenset[str]:
    """Turns the host shows itself; recalling them would say everything twice."""
    return frozenset(message.id for message in request.messages if message.id)


def last_words(request: AssembleRequest) -> str:
    return words_of(request.messages[-1].content) if request.messages else ""


def words_of(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content.strip()
    parts = [part for part in content if isinstance(part, dict) and part.get("type") in TEXT_PARTS]
    return "\n".join(text for part in parts if isinstance(text := part.get("text"), str)).strip()
