"""Reads the rules every prompt must show, again only when a document changed."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from lithify.authored.library import build_library, read_documents
from lithify.authored.records import KIND
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.memory.rulebook.document import AuthoredNode
from lithify.store import VectorStore, point_id
from lithify.streams.generations import AUTHORED, read_generations

# Tenants whose rules one process keeps; the one read longest ago is forgotten first.
KEPT: Final = 1024
UNKNOWN: Final = -1  # generation of rules that were read while Redis was away


@dataclass(frozen=True, slots=True)
class Rule:
    """One hard or soft rule of a core document."""

    id: str  # of its record
    text: str
    source_doc: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a tenant in the order of injection: document, position, ordinal, id."""

    hard: tuple[Rule, ...]
    soft: tuple[Rule, ...]
    generation: int


class AuthoredReader:
    """Reads the rules of tenants, and remembers them: a hard rule binds even while its source is away.

    Costs one Redis read while nothing changes, and serves what it knows while Redis or the store is away.
    """

    def __init__(self, store: VectorStore, redis: Redis, core: Collection[str], family: str) -> None:
        self._store = store
        self._redis = redis
        self._core = frozenset(core)
        self._family = family
        self._kept: OrderedDict[str, Rules] = OrderedDict()

    async def rules(self, scope: TenantScope, /) -> Rules:
        """Returns the rules of the tenant. Raises Unavailable only if they were never read and cannot be now."""
        kept = self._kept.get(scope.tenant)
        try:
            return await self._refresh(scope, kept)
        except Unavailable:
            if kept is None:
                raise
            return kept

    def last_read(self, scope: TenantScope, /) -> Rules | None:
        """Returns what is remembered of the tenant, for who cannot wait; None if it was never read."""
        return self._kept.get(scope.tenant)

    async def _refresh(self, scope: TenantScope, kept: Rules | None) -> Rules:
        # Before the documents: a change in between makes the copy look old, never new.
        generation = await self._generation(scope, kept)
        if kept is None or kept.generation != generation:
            kept = await self._read(scope, generation)
            self._keep(scope.tenant, kept)
        return kept

    async def _generation(self, scope: TenantScope, kept: Rules | None) -> int:
        try:
            [generation] = await read_generations(self._redis, scope.tenant, [AUTHORED])
        except Unavailable:
            return UNKNOWN if kept is None else kept.generation
        return generation

    async def _read(self, scope: TenantScope, generation: int) -> Rules:
        documents = await read_documents(scope, self._store)
        library = await asyncio.to_thread(build_library, documents, self._core, generation)
        return Rules(self._make_rules(scope, library.hard), self._make_rules(scope, library.soft), library.generation)

    def _make_rules(self, scope: TenantScope, nodes: Iterable[AuthoredNode]) -> tuple[Rule, ...]:
        return tuple(
            Rule(
                point_id(scope.tenant, KIND, node.record_id, self._family),
                node.text,
                node.source_doc,
                node.token_estimate,
            )
            for node in nodes
        )

    def _keep(self, tenant: str, rules: Rules) -> None:
        self._kept[tenant] = rules
        self._kept.move_to_end(tenant)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
