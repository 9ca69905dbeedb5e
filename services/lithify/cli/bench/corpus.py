"""Random turns of many tenants for benchmarks of recall: more points are more people with histories of one length."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from lithify.events import TenantScope
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import TIER_NAMES, Record, SparseVector, point_id
from lithify.store.memory_record import MemoryRecord, position_of

# A person's history: ten sessions of fifty turns. More points mean more people, not longer histories.
TURNS_PER_USER, TURNS_PER_SESSION = 500, 50
USERS_PER_TENANT: Final = 9
# Every tenth user belongs to the one big tenant.
BIG_EVERY: Final = 10
# Words of a text, drawn by Zipf's law with a flattened head.
VOCABULARY, WORDS, HEAD = 30_000, 20, 50
QUESTION_WORDS: Final = 9
NOW_MS: Final = 1_700_000_000_000
SYLLABLES: Final = (
    "ka",
    "ro",
    "mi",
    "ten",
    "sol",
    "ver",
    "du",
    "lin",
    "pa",
    "gor",
    "ne",
    "fa",
    "tis",
    "ul",
    "bra",
    "ji",
)


class PeopleCorpus:
    """Makes the same records in every run; vectors are random, words are made up of syllables."""

    def __init__(self, points: int, tiers: tuple[int, ...], family: str) -> None:
        self.points = points
        self._users = max(1, points // TURNS_PER_USER)
        self._tiers = tiers
        self._family = family
        self._random = np.random.default_rng(20)
        share = 1.0 / (np.arange(VOCABULARY) + HEAD)
        self._cumulative = np.cumsum(share / share.sum())
        self._words = [make_word(number) for number in range(VOCABULARY)]
        analyser = LexicalAnalyser()
        self._terms = [analyser.query_vector(word)[0] for word in self._words]

    def batches(self, size: int) -> Iterator[list[Record]]:
        for start in range(0, self.points, size):
            numbers = range(start, min(start + size, self.points))
            vectors = self._random.standard_normal((len(numbers), self._tiers[-1]), np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            yield [self._record(number, vector) for number, vector in zip(numbers, vectors, strict=True)]

    def somebody(self) -> tuple[TenantScope, str]:
        """Draws who asks, and in which session."""
        user = int(self._random.integers(self._users))
        return TenantScope(tenant_of(user), f"user-{user}", shared=True), f"session-{self._random.integers(10)}"

    def question(self) -> str:
        return " ".join(self._words[word] for word in self._draw(QUESTION_WORDS))

    def _record(self, number: int, vector: npt.NDArray[np.float32]) -> Record:
        user, seq = number % self._users, number // self._users
        tenant = tenant_of(user)
        session = f"session-{seq // TURNS_PER_SESSION}"
        words = self._draw(WORDS)
        memory = MemoryRecord(
            tenant=tenant,
            user=f"user-{user}",
            kind="turn",
            scope="session",
            text=" ".join(self._words[word] for word in words),
            ts=NOW_MS - number,
            session=session,
            event_id=f"e{number}",
            role="user" if seq % 2 else "assistant",
            seq=seq,
            position=position_of(f"user-{user}", session, seq),
        )
        terms = sorted({term for word in words for term in self._terms[word]})
        return Record(
            id=point_id(tenant, "turn", f"e{number}", self._family),
            payload=memory.payload(),
            vectors={name: vector[:size] for name, size in zip(TIER_NAMES, self._tiers, strict=True)},
            lexical=SparseVector(tuple(terms), (1.0,) * len(terms)),
        )

    def _draw(self, count: int) -> list[int]:
        drawn: list[int] = np.searchsorted(self._cumulative, self._random.random(count)).tolist()
        return drawn


def tenant_of(user: int) -> str:
    return "big" if user % BIG_EVERY == 0 else f"tenant-{user // USERS_PER_TENANT}"


def make_word(number: int) -> str:
    """Puts four syllables together that no other number has."""
    base = len(SYLLABLES)
    return "".join(SYLLABLES[number // base**place % base] for place in range(4))
