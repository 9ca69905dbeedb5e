"""Keeps what was found in durable and shared memory until one of them is written (spec 01 §6)."""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from lithify.assembly.recall.retrieval import Found
from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.streams.generations import AUTHORED, durable

SIZE: Final = 256

Generations = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CacheKey:
    """`question` is a digest: the words asked are not kept."""

    tenant: str
    user: str
    question: bytes
    depth: int
    profile: str
    fingerprint: str


def cache_key(scope: TenantScope, query: str, depth: int, profile: str, fingerprint: str) -> CacheKey:
    digest = hashlib.sha256(query.encode()).digest()
    return CacheKey(scope.tenant, scope.user or SHARED, digest, depth, profile, fingerprint)


def subjects(scope: TenantScope) -> list[str]:
    """Whose writes make an entry stale: the user's durable memory, the shared one, authored documents."""
    return [durable(scope.user or SHARED), durable(SHARED), AUTHORED]


@dataclass(slots=True)
class RecallCache:
    """Entries are used again as often as they are asked for (X52), the least recently used goes first."""

    size: int = SIZE
    _entries: OrderedDict[CacheKey, tuple[Generations, Found]] = field(default_factory=OrderedDict)

    def get(self, key: CacheKey, generations: Generations) -> Found | None:
        kept, found = self._entries.get(key, (None, None))
        if kept != generations:
            self._entries.pop(key, None)
            return None
        self._entries.move_to_end(key)
        return found

    def put(self, key: CacheKey, generations: Generations, found: Found) -> None:
        """What was found while something was missing is not kept."""
        if found.degraded:
            return
        self._entries[key] = (generations, found)
        self._entries.move_to_end(key)
        if len(self._entries) > self.size:
            self._entries.popitem(last=False)

    def forget(self, tenant: str, user: str | None = None) -> None:
        """Drops what was found for a user, or for all users of a tenant."""
        gone = [key for key in self._entries if key.tenant == tenant and user in (None, key.user)]
        for key in gone:
            del self._entries[key]
