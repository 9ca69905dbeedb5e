"""Tiers of texts, and a failure that costs only the text it belongs to."""

import numpy as np
import pytest

from lithify.embedding import HashEmbedder
from lithify.errors import Invalid, Unavailable
from lithify.indexing import embed_each, embed_tiers, lexical_vector, tier_names
from lithify.indexing.division import index_words
from lithify.memory.lexical.analyser import MAX_TERMS, LexicalAnalyser
from tests.unit.embedder.faulty_embedder import BAD, FaultyEmbedder

TIERED = HashEmbedder(32, (8, 16, 32))


def test_every_tier_is_a_prefix_of_unit_length() -> None:
    [first, second] = embed_tiers(["one tram", "two boats"], TIERED)
    assert {name: vector.shape for name, vector in first.items()} == {"l1": (8,), "l2": (16,), "l3": (32,)}
    assert all(np.linalg.norm(vector) == pytest.approx(1.0) for vector in first.values())
    assert not np.allclose(first["l3"], second["l3"])


def test_a_model_without_prefixes_has_the_full_vector_only() -> None:
    [vectors] = embed_tiers(["one tram"], HashEmbedder(32))
    assert tuple(vectors) == tier_names(HashEmbedder(32).manifest) == ("l3",)


def test_no_texts_have_no_vectors() -> None:
    assert embed_tiers([], TIERED) == []
    assert embed_each([], TIERED) == []


@pytest.mark.parametrize("error", [Invalid("no token"), RuntimeError("out of memory")], ids=["ours", "foreign"])
def test_a_text_that_cannot_be_embedded_costs_its_neighbours_nothing(error: Exception) -> None:
    texts = ["one tram", f"{BAD} words", "two boats"]
    good, bad, other = embed_each(texts, FaultyEmbedder(TIERED, error))
    for embedded, text in ((good, texts[0]), (other, texts[2])):
        [expected] = embed_tiers([text], TIERED)
        assert all(np.array_equal(embedded.vectors[tier], expected[tier]) for tier in expected)
        assert (embedded.error, embedded.missing(TIERED.manifest)) == (None, ())
    assert bad.vectors == {}
    assert bad.missing(TIERED.manifest) == ("l1", "l2", "l3")
    assert bad.error == f"{type(error).__name__}: {error}"


def test_texts_without_a_fault_go_through_the_model_at_once() -> None:
    embedder = FaultyEmbedder(TIERED)
    embed_each(["one", "two", "three"], embedder)
    assert embedder.calls == 1


def test_an_embedder_that_is_away_is_waited_for() -> None:
    with pytest.raises(Unavailable):
        embed_each([f"{BAD} words", "fine"], FaultyEmbedder(TIERED, Unavailable("away")))


def test_the_words_of_a_text_are_its_lexical_vector() -> None:
    analyser = LexicalAnalyser()
    vector = lexical_vector("trams and boats", analyser)
    assert set(vector.indices) == set(analyser.query_vector("tram boat")[0])
    assert all(value > 0 for value in vector.values)


def test_the_words_of_the_longest_turn_are_bounded() -> None:
    words = [f"{number:05d}" for number in range(262_144 // 6)]
    vector = index_words(" ".join(words), LexicalAnalyser(), said_at=None)
    assert len(vector.indices) == len(vector.values) == MAX_TERMS
    assert list(vector.indices) == sorted(set(vector.indices))
