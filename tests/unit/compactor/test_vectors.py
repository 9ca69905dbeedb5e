"""Texts the store knows are not embedded again."""

from collections.abc import Sequence

import numpy as np

from lithify.compaction import SessionKey
from lithify.compactor.session_view import Session
from lithify.compactor.vectors import KnownVectors
from lithify.embedding import HashEmbedder, Vectors
from lithify.memory.compaction.plan import SessionView
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(4)
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_documents(texts)


def session(**vectors: list[float] | None) -> Session:
    """Turns named by their texts."""
    memories = {text: MemoryRecord("acme", "ada", "turn", "session", text, 0, event_id=text) for text in vectors}
    points = {
        text: Record(text, {}, {} if vector is None else {FULL_TIER: np.array(vector)})
        for text, vector in vectors.items()
    }
    return Session(SessionKey("acme", "ada", "s"), SessionView("s", ()), points, memories)


def test_stored_vectors_are_used_and_only_the_rest_is_embedded_once() -> None:
    embedder = Counting()
    known = KnownVectors(session(stored=[0.0, 1.0, 0.0, 0.0], bare=None), embedder)
    rows = known(["bare", "stored", "draft", "bare"])
    assert rows[1].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert np.array_equal(rows[0], rows[3])
    known(["draft", "stored"])
    assert embedder.asked == ["bare", "draft"]


def test_made_vectors_have_the_length_of_stored_ones() -> None:
    rows = KnownVectors(session(), Counting())(["one two", "three"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
