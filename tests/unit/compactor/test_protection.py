"""Which turns are standing instructions, with and without a working model."""

from collections.abc import Sequence

import pytest

from lithify.compactor.protection import Protection
from lithify.memory.compaction.cluster_geometry import Vectors
from lithify.memory.compaction.guidance import PROTOTYPES
from lithify.memory.turn import Turn
from lithify.store.memory_record import MemoryRecord
from tests.compaction_parts import RULE

ADVICE = "I would keep answers short"


def turn(text: str) -> Turn:
    return Turn("t", 0.0, "user", text)


def protection(embed: object, stability: float = 0.5) -> Protection:
    memory = MemoryRecord("acme", "ada", "turn", "session", "text", 0, stability=stability)
    return Protection({"t": memory}, embed)  # type: ignore[arg-type]  # each test brings its own


def at_cosine(cosine: float) -> object:
    """An embedder in whose space every text has this cosine with the first prototype, and none with the others."""

    places = {PROTOTYPES[0]: (1.0, 0.0)} | dict.fromkeys(PROTOTYPES[1:], (0.0, 0.0))

    def embed(texts: Sequence[str]) -> Vectors:
        return [places.get(text, (cosine, (1 - cosine**2) ** 0.5)) for text in texts]

    return embed


def broken(texts: Sequence[str]) -> Vectors:
    raise RuntimeError("no model")


def test_broken_model_loses_no_rule_the_detector_finds() -> None:
    """spec 11.1"""
    assert protection(broken).covers(turn(RULE))
    assert not protection(broken, stability=0.34).covers(turn(RULE))


def test_broken_model_protects_no_advice_and_raises_nothing() -> None:
    assert not protection(broken).covers(turn(ADVICE))


@pytest.mark.parametrize(("cosine", "kept"), [(0.7801, True), (0.7799, False)])
def test_advice_is_kept_if_it_resembles_a_prototype(cosine: float, kept: bool) -> None:
    """spec 11.1"""
    assert protection(at_cosine(cosine)).covers(turn(ADVICE)) == kept


def test_words_without_a_hint_are_not_compared_at_all() -> None:
    assert not protection(broken).covers(turn("It rained all day"))
