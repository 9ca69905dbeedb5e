"""Searches rank by dot product and by rarity of words, and answer a batch in its order."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.store import Query, SparseVector, VectorStore, Where
from tests.contract.samples import ACME, dense, id_of, lexical, record

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


async def test_scores_are_dot_products_not_cosines(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("whole", (1, 0, 0, 0)), record("half", (0.5, 0, 0, 0))])
    [hits] = await store.query_batch(ACME, name, [dense((1, 0, 0, 0))])
    assert [(hit.id, hit.score) for hit in hits] == [(id_of("whole"), 1.0), (id_of("half"), 0.5)]


@pytest.mark.parametrize(("tier", "winner"), [("l1", "a"), ("l2", "b"), ("l3", "c")])
async def test_each_tier_is_searched_by_itself(store: VectorStore, name: str, tier: str, winner: str) -> None:
    rows = {"a": (9, 0, 0, 0), "b": (0, 0, 9, 0), "c": (0, 0, 0, 9)}
    await store.upsert(ACME, name, [record(key, row) for key, row in rows.items()])
    question = np.array([1, 1, 2, 3], np.float32)[: {"l1": 2, "l2": 3, "l3": 4}[tier]]
    [hits] = await store.query_batch(ACME, name, [Query(Where(), tier, question, 1)])
    assert [hit.id for hit in hits] == [id_of(winner)]


async def test_a_rare_word_outranks_a_frequent_one(store: VectorStore, name: str) -> None:
    frequent, rare = 1, 2
    crowd = [record(f"n{n}", terms=(frequent,)) for n in range(20)]
    await store.upsert(ACME, name, [*crowd, record("rare", terms=(rare,))])
    [hits] = await store.query_batch(ACME, name, [lexical((frequent, rare), limit=30)])
    assert len(hits) == 21
    assert hits[0].id == id_of("rare")
    assert hits[0].score > 2 * hits[1].score


async def test_records_without_the_words_are_not_found(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", terms=(1,)), record("b", terms=(2,))])
    [hits] = await store.query_batch(ACME, name, [lexical((1,))])
    assert [hit.id for hit in hits] == [id_of("a")]


async def test_a_batch_is_answered_in_its_order(store: VectorStore, name: str) -> None:
    axes = np.eye(4)
    await store.upsert(ACME, name, [record(f"n{n}", tuple(axes[n]), terms=(n + 10,)) for n in range(4)])
    questions = [lexical((12,)), dense(tuple(axes[3]), limit=1), dense(tuple(axes[0]), limit=1), lexical((999,))]
    answers = await store.query_batch(ACME, name, questions)
    assert [[hit.id for hit in hits] for hits in answers] == [[id_of("n2")], [id_of("n3")], [id_of("n0")], []]


async def test_hits_are_best_first_and_bounded(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}", (n / 10, 0, 0, 0)) for n in range(10)])
    [hits] = await store.query_batch(ACME, name, [dense(limit=3)])
    assert [hit.payload["event_id"] for hit in hits] == ["n9", "n8", "n7"]


async def test_hits_carry_only_the_fields_that_were_asked_for(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a", session="s", kind="turn")])
    fields = ("kind", "session", "seq")
    questions = [replace(question, fields=fields) for question in (dense(), lexical((1,)))]
    answers = await store.query_batch(ACME, name, questions)
    assert [[hit.payload for hit in hits] for hits in answers] == 2 * [[{"kind": "turn", "session": "s"}]]


async def test_a_long_reading_finds_the_same_as_many_short_ones(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}", (n / 10, 0, 0, 0)) for n in range(10)])
    [few], [many] = [await store.query_batch(ACME, name, [dense(limit=limit)]) for limit in (10, 1_000)]
    assert few == many
    pages = [await store.scroll(ACME, name, Where(), limit=limit) for limit in (10, 1_000)]
    assert [r.id for r in pages[0].records] == [r.id for r in pages[1].records]


async def test_equal_scores_come_in_the_order_of_ids(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record(f"n{n}") for n in range(10)])
    [hits] = await store.query_batch(ACME, name, [dense()])
    assert [hit.id for hit in hits] == sorted(hit.id for hit in hits)


async def test_weaker_hits_than_asked_for_are_left_out(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("strong", (0.9, 0, 0, 0)), record("weak", (0.2, 0, 0, 0))])
    [hits] = await store.query_batch(ACME, name, [replace(dense(), least_score=0.5)])
    assert [hit.payload["event_id"] for hit in hits] == ["strong"]


async def test_hits_carry_the_tiers_asked_for(store: VectorStore, name: str) -> None:
    partial = record("partial", (0, 1, 0, 0))
    await store.upsert(ACME, name, [record("full"), replace(partial, vectors={"l3": partial.vectors["l3"]})])
    bare, rich = await store.query_batch(ACME, name, [dense(), replace(dense(), with_vectors=("l1", "l3"))])
    assert [set(hit.vectors) for hit in bare] == [set(), set()]
    assert [set(hit.vectors) for hit in rich] == [{"l1", "l3"}, {"l3"}]
    assert rich[0].vectors["l3"].tolist() == [1, 0, 0, 0]


async def test_a_question_of_the_wrong_length_is_refused(store: VectorStore, name: str) -> None:
    with pytest.raises(Invalid, match="query: l3 has the shape"):
        await store.query_batch(ACME, name, [dense((1, 0, 0))])


async def test_no_questions_get_no_answers(store: VectorStore, name: str) -> None:
    assert await store.query_batch(ACME, name, []) == []


async def test_a_question_without_words_finds_nothing(store: VectorStore, name: str) -> None:
    await store.upsert(ACME, name, [record("a")])
    wordless = Query(Where(), "lexical", SparseVector((), ()), 5)
    assert await store.query_batch(ACME, name, [wordless]) == [[]]
