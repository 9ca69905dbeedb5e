"""What search finds, and in which order, on every engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest

from lithify.embedding.hash_embedder import HashEmbedder
from lithify.errors import Unavailable
from lithify.memory.ranking.passages import ALONE
from lithify.memory.ranking.profile import RECALL, SEED
from lithify.memory.vectors.cascade import Cascade
from lithify.store import VectorStore
from tests.contract.search_parts import DAY_MS, NOW, Shelf

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ALONE_RECALL = replace(RECALL, window=ALONE)


@pytest.fixture
def shelf(memories: VectorStore, hash_embedder: HashEmbedder) -> Iterator[Shelf]:
    shelf = Shelf(memories, hash_embedder)
    yield shelf
    shelf.executor.shutdown()


async def test_a_reply_is_found_by_the_words_of_its_question(shelf: Shelf) -> None:
    await shelf.talk("Which instrument did you buy?", "Oh, a small blue cello from Prague it was.")
    await shelf.talk("The weather was fine all over the week.", "I planted three trees behind the house.", session="t")
    names = await shelf.names("instrument buy")
    assert set(names[:2]) == {"s1", "s2"}
    reply = next(hit for hit in await shelf.hits("instrument buy") if hit.event_id == "s2")
    assert reply.components["neighbours"] == pytest.approx(0.7)
    assert reply.components["reply"] == 1.0


@pytest.mark.parametrize(("threshold", "searched"), [(-1.0, ["l1"]), (1.0, ["l1", "l2", "l3"])])
async def test_a_cascade_finds_the_same_and_tells_which_tiers_it_searched(
    shelf: Shelf, threshold: float, searched: list[str]
) -> None:
    await shelf.talk("the harbour concert was loud", "a cello from Prague", "three trees behind the house")
    cascaded = replace(shelf, cascade=Cascade((8, 16, 32), (threshold, threshold)))
    plain, answer = await shelf.ask("loud harbour"), await cascaded.ask("loud harbour")
    assert [hit.id for hit in answer.hits] == [hit.id for hit in plain.hits]
    assert ([tier.tier for tier in answer.found.tiers], plain.found.tiers) == (searched, [])


async def test_the_turns_of_another_session_lend_nothing(shelf: Shelf) -> None:
    await shelf.put("a", "Which instrument did you buy?", session="s", seq=1)
    await shelf.put("b", "A small blue cello.", session="t", seq=2)
    hits = {hit.event_id: hit for hit in await shelf.hits("instrument buy cello")}
    assert (hits["a"].components["neighbours"], hits["b"].components["neighbours"]) == (0.0, 0.0)


async def test_the_neighbours_of_a_hit_stay_inside_its_user(shelf: Shelf) -> None:
    await shelf.put("mine", "the harbour concert", seq=1)
    await shelf.put("theirs", "a secret of bob", user="bob", seq=2)
    await shelf.put("foreign", "a secret of another tenant", tenant="rival", seq=2)
    assert await shelf.names("harbour concert") == ["mine"]


async def test_the_neighbours_of_a_hit_obey_the_filters(shelf: Shelf) -> None:
    await shelf.put("question", "the harbour concert?", role="user", seq=1)
    await shelf.put("answer", "it was loud", role="assistant", seq=2)
    assert await shelf.names("harbour concert", filters={"roles": ["user"]}) == ["question"]
    assert set(await shelf.names("harbour concert")) == {"question", "answer"}


async def test_a_turn_and_its_durable_copy_are_one_hit(shelf: Shelf) -> None:
    await shelf.talk("my cat is called Ludwig", "what a name")
    await shelf.put("s1", "my cat is called Ludwig", kind="memory", scope="user")
    assert (await shelf.names("cat Ludwig")).count("s1") == 1


async def test_a_durable_copy_answers_as_well_as_its_turn(shelf: Shelf) -> None:
    await shelf.talk("where is the cello?", "my cello is in Prague", "oh")
    copy = await shelf.put("s2", "my cello is in Prague", kind="memory", scope="user")
    candidates = {c.id: c for c in (await shelf.ask("cello Prague")).found.candidates}
    turn = next(c for c in candidates.values() if c.source_turn == "s2" and c.id != copy)
    assert candidates[copy].signals == turn.signals


async def test_compacted_turns_are_found_and_their_summary_gives_way(shelf: Shelf) -> None:
    await shelf.talk("the visa came in May", "the passport in June", active=False, compacted_into="x")
    await shelf.put("sum", "visa and passport came", kind="summary", source_ids=("s1", "s2"))
    assert set(await shelf.names("visa passport")) == {"s1", "s2"}
    assert await shelf.names("visa passport", SEED) == ["sum"]


async def test_a_summary_stands_in_for_turns_that_are_gone(shelf: Shelf) -> None:
    await shelf.put("sum", "visa and passport came", kind="summary", source_ids=("s1", "s2"))
    assert await shelf.names("visa passport") == ["sum"]


async def test_a_superseded_summary_is_never_found(shelf: Shelf) -> None:
    await shelf.put("old", "visa and passport came", kind="summary", source_ids=("s1",), active=False)
    assert await shelf.names("visa passport") == []
    assert await shelf.names("visa passport", SEED) == []


async def test_a_record_without_session_is_not_buried(shelf: Shelf) -> None:
    await shelf.talk("hello there", "the invoice is late again", "never mind", "see you")
    await shelf.put("rule", "Invoice numbers start with INV", kind="authored", scope="global", user="", session=None)
    [best, *_] = await shelf.hits("invoice numbers INV")
    assert best.event_id == "rule"
    assert "session" not in best.components


@pytest.mark.parametrize("mode", ["dense", "lexical"])
async def test_a_single_leg_is_asked_for_its_bare_measure(shelf: Shelf, mode: str) -> None:
    await shelf.talk("Which instrument did you buy?", "A cello.", "I buy bread.")
    hits = await shelf.hits("instrument buy", mode=mode)
    assert hits[0].event_id == "s1"
    assert {hit.components["neighbours"] for hit in hits} == {0.0}
    assert [hit.components[mode] for hit in hits] == sorted((hit.components[mode] for hit in hits), reverse=True)


async def test_the_seed_sees_the_bare_cosine_of_every_hit(shelf: Shelf) -> None:
    await shelf.talk("alpha beta", "gamma delta")
    hits = {hit.event_id: hit.components for hit in await shelf.hits("alpha beta", SEED)}
    assert hits["s1"]["dense"] == pytest.approx(1.0, abs=1e-5)
    assert hits["s1"]["relevance"] == pytest.approx(hits["s1"]["dense"])


async def test_turns_without_a_number_are_judged_alone(shelf: Shelf) -> None:
    await shelf.put("a", "the harbour concert?")
    await shelf.put("b", "it was loud")
    hits = {hit.event_id: hit for hit in await shelf.hits("harbour concert loud")}
    assert {hit.components["neighbours"] for hit in hits.values()} == {0.0}
    assert "reply" not in hits["b"].components


async def test_without_a_window_nothing_is_read_around_the_hits(shelf: Shelf) -> None:
    await shelf.talk("the harbour concert?", "it was loud")
    hits = await shelf.hits("harbour concert", ALONE_RECALL)
    assert {hit.components["neighbours"] for hit in hits} == {0.0}


async def test_a_question_for_the_latest_prefers_the_newest(shelf: Shelf) -> None:
    await shelf.put("old", "my favourite job is baker", ts=NOW - 200 * DAY_MS, session="a", seq=1)
    await shelf.put("new", "my job is pilot now", ts=NOW - DAY_MS, session="b", seq=1)
    assert (await shelf.names("what was my favourite job"))[0] == "old"
    assert (await shelf.names("what is my latest favourite job"))[0] == "new"


async def test_a_varied_list_does_not_repeat_itself(shelf: Shelf) -> None:
    await shelf.talk("my cat is called Ludwig", "my cat is called Ludwig!", session="a")
    await shelf.talk("Ludwig sleeps on the radiator", session="b")
    names = await shelf.names("my cat Ludwig", replace(RECALL, mmr_lambda=0.5), limit=2)
    assert "b1" in names
    assert set(await shelf.names("my cat Ludwig", limit=2)) == {"a1", "a2"}


async def test_the_same_question_gets_the_same_answer(shelf: Shelf) -> None:
    await shelf.talk("one red boat", "two red boats", "three blue boats", "no boat")
    first, again = [await shelf.hits("red boats") for _ in range(2)]
    assert first == again


async def test_an_empty_or_wordless_question_finds_nothing_by_words(shelf: Shelf) -> None:
    await shelf.talk("one red boat")
    assert await shelf.names("") == []
    assert await shelf.names("the of", mode="lexical") == []
    assert await shelf.names("the of") == ["s1"]


class Narrow:
    """A store whose pages cannot be read."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self.query_batch = store.query_batch
        self.count = store.count

    async def scroll(self, *_: object, **__: object) -> None:
        raise Unavailable("no pages")


async def test_hits_remain_when_their_neighbours_cannot_be_read(shelf: Shelf) -> None:
    await shelf.talk("the harbour concert", "it was loud")
    result = await replace(shelf, store=cast("VectorStore", Narrow(shelf.store))).ask("harbour concert")
    assert "s1" in [hit.event_id for hit in result.hits]
    assert result.found.degraded == ["the turns around what was found cannot be read: no pages"]
