"""What recall keeps between two questions: what was found, and the vectors of recent questions (spec 01 §6)."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Final

from lithify.assembly.recall.found import FoundMemories
from lithify.embedding import Embedder, Health, Manifest, Vectors
from lithify.events import TenantScope
from lithify.events.scope import SHARED
from lithify.memory.ranking.profile import Profile
from lithify.streams.generations import AUTHORED, durable_subject

SIZE: Final = 256

Generations = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Names what an entry was found for; `question` is a digest, because the words asked are not kept."""

    tenant: str
    user: str
    question: bytes
    depth: int
    profile: str
    fingerprint: str


def cache_key(scope: TenantScope, query: str, *, depth: int, profile: str, fingerprint: str) -> CacheKey:
    digest = hashlib.sha256(query.encode()).digest()
    return CacheKey(
        tenant=scope.tenant,
        user=scope.user or SHARED,
        question=digest,
        depth=depth,
        profile=profile,
        fingerprint=fingerprint,
    )


def subjects(scope: TenantScope) -> list[str]:
    """Names whose writes make an entry stale: the user's durable memory, the shared one, authored documents."""
    return [durable_subject(scope.user or SHARED), durable_subject(SHARED), AUTHORED]


@dataclass(slots=True)
class RecallCache:
    """Keeps what was found in durable and shared memory until one of them is written.

    Entries are used again as often as they are asked for (X52), the least recently used goes first.
    """

    size: int = SIZE
    _entries: OrderedDict[CacheKey, tuple[Generations, FoundMemories]] = field(default_factory=OrderedDict)

    def get(self, key: CacheKey, generations: Generations) -> FoundMemories | None:
        kept, found = self._entries.get(key, (None, None))
        if kept != generations:
            self._entries.pop(key, None)
            return None
        self._entries.move_to_end(key)
        return found

    def put(self, key: CacheKey, generations: Generations, found: FoundMemories) -> None:
        """Keeps what was found, unless something was missing."""
        if found.degraded:
            return
        self._entries[key] = (generations, found)
        self._entries.move_to_end(key)
        if len(self._entries) > self.size:
            self._entries.popitem(last=False)


class QueryVectorCache:
    """Remembers the vectors of recent questions: an agent asks the same one again after every tool call.

    Implements Embedder around another one. Keeps vectors under digests: the words asked are not kept.
    """

    def __init__(self, embedder: Embedder, size: int = SIZE) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()  # questions are embedded on several threads

    @property
    def manifest(self) -> Manifest:
        return self._embedder.manifest

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        key = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        with self._lock:
            known = self._vectors.get(key)
            if known is not None:
                self._vectors.move_to_end(key)
                return known
        vector = self._embedder.embed_query(text)
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def health(self) -> Health:
        return self._embedder.health()


@cache
def profile_digest(profile: Profile) -> str:
    """Names a profile's parameters, worked out once: it costs as much as ranking, and a process has few profiles."""
    return profile.digest()
