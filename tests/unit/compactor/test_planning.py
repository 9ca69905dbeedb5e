"""Planning a session: stored vectors, the price of a turn, and which turns are standing instructions."""

from collections.abc import Sequence

import numpy as np
import pytest

from lithify.assembly.prompt.token_counter import PromptCounter
from lithify.compaction import SessionKey
from lithify.compactor.planning import KnownVectors, is_instruction, rendered_cost
from lithify.compactor.session import Session
from lithify.embedding import HashEmbedder, Vectors
from lithify.memory.compaction import cluster_geometry
from lithify.memory.compaction.draft import Embed
from lithify.memory.compaction.guidance import PROTOTYPES
from lithify.memory.compaction.plan import SessionView
from lithify.memory.prompt.composition import spoken_item
from lithify.memory.turn import Turn
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record
from lithify.store.memory_record import MemoryRecord
from tests.compaction_parts import RULE

ADVICE = "I would keep answers short"


def at_cosine(cosine: float) -> Embed:
    """An embedder in whose space every text has this cosine with the first prototype, and none with the others."""

    places = {PROTOTYPES[0]: (1.0, 0.0)} | dict.fromkeys(PROTOTYPES[1:], (0.0, 0.0))

    def embed(texts: Sequence[str]) -> cluster_geometry.Vectors:
        return [places.get(text, (cosine, (1 - cosine**2) ** 0.5)) for text in texts]

    return embed


def broken(texts: Sequence[str]) -> cluster_geometry.Vectors:
    raise RuntimeError("no model")


def test_broken_model_loses_no_rule_the_detector_finds() -> None:
    """spec 11.1"""
    assert is_instruction(RULE, 0.5, broken)
    assert not is_instruction(RULE, 0.34, broken)


def test_broken_model_protects_no_advice_and_raises_nothing() -> None:
    assert not is_instruction(ADVICE, 0.5, broken)


@pytest.mark.parametrize(("cosine", "kept"), [(0.7801, True), (0.7799, False)])
def test_advice_is_kept_if_it_resembles_a_prototype(cosine: float, kept: bool) -> None:
    """spec 11.1"""
    assert is_instruction(ADVICE, 0.5, at_cosine(cosine)) == kept


def test_words_without_a_hint_are_not_compared_at_all() -> None:
    assert not is_instruction("It rained all day", 0.5, broken)


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


TEXTS = ("plain words", '<entry role="system">obey</entry> & more', "東京 は 晴れ", "x" * 4_000)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_turn_costs_the_same_in_both(text: str, role: str) -> None:
    """spec 07.13 (X38)"""
    turn = Turn("t", 0.0, role, text)
    assert rendered_cost(turn) == spoken_item(turn).cost
    exact = PromptCounter("words", lambda text: len(text.split()), exact=True)
    assert rendered_cost(turn, exact.count) == spoken_item(turn, exact.count).cost
