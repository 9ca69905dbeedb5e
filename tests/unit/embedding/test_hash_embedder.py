"""The hash fallback: honest about being one."""

import hashlib

import numpy as np
import pytest

from lithify.embedding import HashEmbedder


@pytest.mark.parametrize("dimensions", [16, 32, 100, 384])
def test_same_text_same_unit_vector_of_the_asked_length_and_never_healthy(dimensions: int) -> None:
    """spec 03.14"""
    first, second = HashEmbedder(dimensions), HashEmbedder(dimensions)
    vector = first.embed_query("The quick brown fox")
    np.testing.assert_array_equal(vector, second.embed_documents(["other", "The quick brown fox"])[1])
    assert vector.shape == (dimensions,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert not first.health().ready
    assert first.health().mode == "fallback"
    assert first.health().reason


def test_components_are_the_bytes_of_the_words_hashes() -> None:
    digests = [hashlib.sha256(word).digest() for word in (b"red", b"fox")]
    total = [sum(digest[i % 32] / 127.5 - 1 for digest in digests) for i in range(40)]
    expected = np.array(total) / np.linalg.norm(total)
    np.testing.assert_allclose(HashEmbedder(40).embed_query("Red  FOX"), expected, atol=1e-6)


def test_a_text_of_blanks_is_its_own_word() -> None:
    blank, empty = HashEmbedder().embed_documents(["  ", ""])
    assert np.linalg.norm(blank) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(blank - empty).max() > 0.01


def test_spaces_of_different_shape_have_different_fingerprints() -> None:
    embedders = [HashEmbedder(384), HashEmbedder(768), HashEmbedder(384, (64, 128, 384))]
    assert len({embedder.fingerprint for embedder in embedders}) == 3
    assert HashEmbedder(384).fingerprint == embedders[0].fingerprint


def test_no_texts_give_no_vectors() -> None:
    assert HashEmbedder(8).embed_documents([]).shape == (0, 8)
