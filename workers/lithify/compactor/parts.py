"""What the compaction job works with, given once per process."""

from dataclasses import dataclass, field

from redis.asyncio import Redis

from lithify.compactor.session_state import SessionStates
from lithify.embedding import Embedder
from lithify.events import Clock
from lithify.memory.compaction.draft import Abstractive
from lithify.memory.compaction.plan import CompactionPolicy
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.prompt.rendering import TokenCounter
from lithify.memory.tokens import estimate_tokens
from lithify.store import VectorStore


@dataclass(frozen=True, slots=True)
class Compactor:
    """`tokens` is how much a session must hold for the token trigger to mean it.

    `policy.tail` and `count` are to be those of assembly, or the two disagree about what is recent (X38).
    """

    store: VectorStore
    embedder: Embedder
    analyser: LexicalAnalyser
    redis: Redis
    partitions: int
    clock: Clock
    tokens: int
    policy: CompactionPolicy = field(default_factory=CompactionPolicy)
    abstractive: Abstractive | None = None
    count: TokenCounter = estimate_tokens

    @property
    def states(self) -> SessionStates:
        return SessionStates(self.redis, self.partitions)
