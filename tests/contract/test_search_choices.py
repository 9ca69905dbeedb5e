"""What a caller may choose for one search: a preferred session, fusion, decay and variety, on every engine."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from lithify.assembly.schema import MAX_DEPTH, SearchRequest
from lithify.embedding.hash_embedder import HashEmbedder
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.store import VectorStore
from tests.contract.search_parts import DAY_MS, NOW, Shelf

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


@pytest.fixture
def shelf(memories: VectorStore, hash_embedder: HashEmbedder) -> Iterator[Shelf]:
    shelf = Shelf(memories, hash_embedder)
    yield shelf
    shelf.executor.shutdown()


async def put_one_in_each_scope(shelf: Shelf) -> None:
    text = "the spare key hangs behind the boiler"
    await shelf.put("other", text, session="other")
    await shelf.put("durable", text, kind="memory", scope="user", session=None)
    await shelf.put("shared", text, kind="memory", scope="global", user="", session=None)
    await shelf.put("own", text, session="own")
    await shelf.put("stranger", text, user="bob", session="own")


async def test_a_session_is_preferred_and_hides_nothing(shelf: Shelf) -> None:
    await put_one_in_each_scope(shelf)
    assert await shelf.names("spare key boiler", session="own") == ["own", "other", "durable", "shared"]
    assert await shelf.names("spare key boiler", session="other") == ["other", "own", "durable", "shared"]


async def test_the_seed_searches_the_session_and_what_lasts(shelf: Shelf) -> None:
    """spec 01 §5: `session:<sid>`, `user:<ns>` and `global`, merged by score."""
    await put_one_in_each_scope(shelf)
    assert await shelf.names("spare key boiler", SEED, session="own") == ["own", "durable", "shared"]


@pytest.mark.parametrize("profile", [RECALL, SEED])
async def test_a_session_is_a_filter_where_that_is_asked_for(shelf: Shelf, profile: Profile) -> None:
    await put_one_in_each_scope(shelf)
    assert await shelf.names("spare key boiler", profile, session="own", only_session=True) == ["own"]


@pytest.mark.parametrize("profile", [RECALL, SEED])
async def test_other_filters_hold_beside_a_session(shelf: Shelf, profile: Profile) -> None:
    await put_one_in_each_scope(shelf)
    found = await shelf.names("spare key boiler", profile, session="own", filters={"kinds": ["memory"]})
    assert found == ["durable", "shared"]


async def test_what_answers_better_passes_the_session(shelf: Shelf) -> None:
    await shelf.put("own", "the weather is fine", session="own")
    await shelf.put("other", "the spare key hangs behind the boiler", session="other")
    assert (await shelf.names("spare key boiler", session="own"))[0] == "other"


async def fill_two_lists(shelf: Shelf) -> None:
    """By rare words `words` is the best, by meaning `meaning`; `both` is the second in each list."""
    await shelf.put("meaning", "harbour concert", session="a")
    await shelf.put("both", "harbour concert zebra tonight", session="b")
    await shelf.put("words", "zebra zebra harbour zebra " + " ".join(f"filler{n}" for n in range(12)), session="c")


async def test_ranks_are_fused(shelf: Shelf) -> None:
    await fill_two_lists(shelf)
    hits = await shelf.hits("harbour concert", fusion="rrf")
    for hit in hits:
        ranks = [hit.components[name] for name in ("lexical_rank", "vector_rank") if name in hit.components]
        assert hit.components["fused"] == pytest.approx(sum(1.0 / (60.0 + rank) for rank in ranks))
    assert [hit.components["fused"] for hit in hits] == sorted((h.components["fused"] for h in hits), reverse=True)
    assert "fused" not in (await shelf.hits("harbour concert"))[0].components


async def test_weights_decide_between_meaning_and_words(shelf: Shelf) -> None:
    await shelf.put("meaning", "alpha beta gamma delta", session="a")
    await shelf.put("words", "alpha beta gamma delta omega and some more words here", session="b")
    query = "alpha beta gamma delta omega"
    by_meaning = await shelf.names(query, fusion="weighted", vector_weight=1.0)
    by_words = await shelf.names(query, fusion="weighted", vector_weight=0.0)
    assert (by_meaning[0], by_words[0]) == ("meaning", "words")
    [best, second] = await shelf.hits(query, fusion="weighted")
    assert best.components["fused"] == pytest.approx(0.7 * 1.0 + 0.3 / best.components["lexical_rank"])
    assert second.components["fused"] < best.components["fused"]


async def test_the_seed_fuses_the_lists_of_all_its_pools(shelf: Shelf) -> None:
    await put_one_in_each_scope(shelf)
    hits = await shelf.hits("spare key boiler", SEED, session="own", fusion="rrf")
    assert {hit.event_id for hit in hits} == {"own", "durable", "shared"}
    assert sorted(hit.components["vector_rank"] for hit in hits) == [1.0, 2.0, 3.0]


async def test_copies_of_a_turn_take_one_rank(shelf: Shelf) -> None:
    await shelf.put("fact", "my cello is in Prague")
    await shelf.put("fact", "my cello is in Prague", kind="memory", scope="user")
    await shelf.put("other", "a cello from Vienna", session="t")
    hits = await shelf.hits("cello Prague", fusion="rrf")
    assert [(hit.event_id, hit.components["vector_rank"]) for hit in hits] == [("fact", 1.0), ("other", 2.0)]


async def test_a_multiplier_says_how_deep_the_lists_are(shelf: Shelf) -> None:
    for number in range(12):
        await shelf.put(f"t{number}", f"harbour note {number}", session=f"s{number}")
    shallow = await shelf.ask("harbour note", limit=2, multiplier=1, fusion="rrf")
    deep = await shelf.ask("harbour note", limit=2, multiplier=5, fusion="rrf")
    assert (len(shallow.found.candidates), len(deep.found.candidates)) != (12, 12)
    assert len(shallow.found.candidates) <= 4 < 10 <= len(deep.found.candidates)


async def test_decay_halves_by_the_half_life(shelf: Shelf) -> None:
    await shelf.put("old", "my favourite job is baker", ts=NOW - 60 * DAY_MS, session="a")
    await shelf.put("new", "my job is pilot", ts=NOW, session="b")
    query = "what was my favourite job"
    assert (await shelf.names(query))[0] == "old"
    assert (await shelf.names(query, decay=True))[0] == "new"
    assert (await shelf.names(query, decay=True, half_life_days=36_500))[0] == "old"
    factors = {hit.event_id: hit.components["decay"] for hit in await shelf.hits(query, decay=True)}
    assert factors == pytest.approx({"new": 1.0, "old": 0.25})


async def test_decay_can_be_refused(shelf: Shelf) -> None:
    await shelf.put("old", "my favourite job is baker", ts=NOW - 200 * DAY_MS, session="a")
    await shelf.put("new", "my job is pilot now", ts=NOW, session="b")
    query = "what is my latest favourite job"
    assert (await shelf.names(query))[0] == "new"
    assert (await shelf.names(query, decay=False))[0] == "old"
    fading = replace(RECALL, decay_half_life_days=1.0)
    assert (await shelf.names("what was my favourite job", fading))[0] == "new"
    assert (await shelf.names("what was my favourite job", fading, decay=False))[0] == "old"


async def put_repetitions(shelf: Shelf) -> None:
    await shelf.put("first", "my cat is called Ludwig", session="a")
    await shelf.put("again", "my cat is called Ludwig indeed", session="b")
    await shelf.put("more", "a cat naps, called Ludwig by all", session="c")


async def test_variety_puts_something_else_before_a_repetition(shelf: Shelf) -> None:
    await put_repetitions(shelf)
    query = "cat called Ludwig"
    assert (await shelf.names(query))[2] == "more"
    assert (await shelf.names(query, mmr=True))[1] == "more"
    assert (await shelf.names(query, mmr=True, relevance_share=1.0))[2] == "more"
    values = [hit.components["diversity"] for hit in await shelf.hits(query, mmr=True)]
    assert values == sorted(values, reverse=True)


async def test_variety_may_leave_repetitions_out(shelf: Shelf) -> None:
    await put_repetitions(shelf)
    varied = await shelf.names("cat called Ludwig", mmr=True, relevance_share=0.5, threshold=0.1)
    assert varied[1:] == ["more"]
    diverse = replace(RECALL, mmr_lambda=0.7)
    assert (await shelf.names("cat called Ludwig", diverse, mmr=False))[2] == "more"


async def test_the_chance_to_help_stays_that_of_the_record(shelf: Shelf) -> None:
    await put_repetitions(shelf)
    plain = {hit.event_id: hit.score for hit in await shelf.hits("cat called Ludwig")}
    varied = {hit.event_id: hit.score for hit in await shelf.hits("cat called Ludwig", mmr=True, decay=True)}
    assert varied == pytest.approx(plain)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"only_session": True}, "only_session"),
        ({"fusion": "rrf", "mode": "dense"}, "fusion"),
        ({"vector_weight": 0.5}, "vector_weight"),
        ({"vector_weight": 0.5, "fusion": "rrf"}, "vector_weight"),
        ({"half_life_days": 7}, "half_life_days"),
        ({"half_life_days": 7, "decay": False}, "half_life_days"),
        ({"relevance_share": 0.5}, "relevance_share"),
        ({"threshold": 0.1}, "threshold"),
        ({"multiplier": 16, "limit": MAX_DEPTH // 16 + 1}, "multiplier"),
        ({"fusion": "sum"}, "fusion"),
        ({"lambda": 0.5}, "lambda"),
    ],
)
def test_a_choice_without_effect_is_refused(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        SearchRequest.model_validate({"query": "x", **fields})
