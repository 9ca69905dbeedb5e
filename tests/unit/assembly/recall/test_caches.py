"""Caches give back what was put in, forget in order, and never hold words."""

import threading

import numpy as np
import pytest

from lithify.assembly.recall.caches import QueryVectorCache, RecallCache, cache_key
from lithify.assembly.recall.found import FoundMemories
from lithify.embedding import Vectors
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.events import TenantScope

ADA = TenantScope("t", "ada", shared=True)


class Counting(HashEmbedder):
    """Notes every question it really embeds."""

    def __init__(self) -> None:
        super().__init__(32)
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


def test_an_entry_is_used_again_until_a_generation_moves() -> None:
    """spec 01.10"""
    cache, key, found = RecallCache(), cache_key(ADA, "q", depth=8, profile="p", fingerprint="f"), FoundMemories()
    cache.put(key, (1, 2, 3), found)
    assert [cache.get(key, (1, 2, 3)) is found for _ in range(3)] == [True] * 3
    assert cache.get(key, (1, 2, 4)) is None
    assert cache.get(key, (1, 2, 3)) is None


def test_the_least_recently_used_entry_goes_first() -> None:
    cache = RecallCache(size=2)
    one, two, three = (
        cache_key(ADA, query, depth=8, profile="p", fingerprint="f") for query in ("one", "two", "three")
    )
    cache.put(one, (), FoundMemories())
    cache.put(two, (), FoundMemories())
    cache.get(one, ())
    cache.put(three, (), FoundMemories())
    assert [cache.get(key, ()) is not None for key in (one, two, three)] == [True, False, True]


def test_what_was_found_in_an_outage_is_not_kept() -> None:
    cache, key = RecallCache(), cache_key(ADA, "q", depth=8, profile="p", fingerprint="f")
    cache.put(key, (), FoundMemories(degraded=["no store"]))
    assert cache.get(key, ()) is None


def test_no_part_of_a_cache_key_is_shared_by_accident() -> None:
    keys = {
        cache_key(scope, query, depth=depth, profile=p, fingerprint=f)
        for scope in (ADA, TenantScope("t", "bob"))
        for query in "ab"
        for depth in (8, 9)
        for p in "pq"
        for f in "fg"
    }
    assert len(keys) == 32
    assert "secret words" not in repr(cache_key(ADA, "secret words", depth=8, profile="p", fingerprint="f"))


def test_a_question_is_embedded_once_while_it_is_remembered() -> None:
    model = Counting()
    remembered = QueryVectorCache(model, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        np.testing.assert_array_equal(remembered.embed_query(text), HashEmbedder(32).embed_query(text))
    assert model.asked == ["a", "b", "c", "b"]
    assert (remembered.fingerprint, remembered.manifest) == (model.fingerprint, model.manifest)


def test_questions_may_be_remembered_from_many_threads() -> None:
    remembered = QueryVectorCache(HashEmbedder(32), size=3)
    threads = [
        threading.Thread(target=lambda: [remembered.embed_query(str(n % 7)) for n in range(200)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(remembered.embed_query("3"), HashEmbedder(32).embed_query("3"))


@pytest.mark.parametrize("text", ["", "\ud800"])
def test_any_question_can_be_remembered(text: str) -> None:
    assert QueryVectorCache(HashEmbedder(32)).embed_query(text).shape == (32,)
