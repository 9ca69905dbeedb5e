"""Docs search on all three engines: two lists at once, one ranking, and an answer whatever is missing."""

import asyncio
from typing import Any, cast

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.docs import DocSearch, Fusion, Mode, Terms
from lithify.docs.receipt import compared, receipt_of, terms_of
from lithify.docs.search import NO_MODEL
from lithify.errors import Invalid, Unavailable
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import LEXICAL, Query, VectorStore
from tests.unit.docs.docs_parts import ACME, MOMENT, TIDES, Desk, Fragile, open_desk, refs

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

CRANES = "# Cranes\n\nThe crane of quay 4 lifts forty tonnes.\n\n# Certificates\n\nThe TLS certificate was renewed.\n"
STORMS = "# Storms\n\n台風のときは係留索を二重にする。\n\n# Gates\n\nThe sluice gate closes at four metres.\n"
HOSTILE = ['a" OR b', "NEAR(", "*", "foo:bar", "", "   ", "' OR 1=1 --", "crane " * 1700, "\x00\ud7ff"]


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore, redis: Redis) -> Desk:
    desk = await open_desk(bare_store, redis, Fragile(32, (8, 16, 32)))
    for path, text in (("logs/2023-10-15.md", TIDES), ("cranes.md", CRANES), ("storms.md", STORMS)):
        await desk.put(path, text)
    await desk.embed()
    return desk


class Meeting:
    """A store whose two searches each wait for the other: one after the other they would wait for ever."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._gate = asyncio.Barrier(2)
        self.asked: list[Query] = []

    async def query_batch(self, scope: Any, collection: str, queries: list[Query]) -> Any:
        self.asked += queries
        async with asyncio.timeout(20):
            await self._gate.wait()
        return await self._store.query_batch(scope, collection, queries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("E_PUMP_204", "pumps"),
        ("p-17", "pumps"),
        ("9fceb02", "pumps"),
        ("9fceb02d0ae598e95dc970b74767f19372d61af8", "pumps"),
        ("October 15, 2023", "_top"),
        ("lifts forty tonnes", "cranes"),
        ("係留索", "storms"),
        ("logs/2023-10-15.md", "logs/2023-10-15.md"),
    ],
)
async def test_words_find_dates_hashes_paths_identifiers_quotes_and_cjk(desk: Desk, query: str, wanted: str) -> None:
    found = await desk.find(query, mode=Mode.LEXICAL)
    assert wanted in refs(found)[0] or wanted in found.rows[refs(found)[0]].text.lower()


@pytest.mark.parametrize("query", HOSTILE)
async def test_no_query_is_syntax(desk: Desk, query: str) -> None:
    """spec 10.4"""
    found = await desk.find(query)
    assert found.degraded == []
    assert len(found.answer) <= found.terms.limit


async def test_without_vectors_the_answer_is_that_of_the_words(desk: Desk) -> None:
    """spec 10.5"""
    assert isinstance(desk.embedder, Fragile)
    desk.embedder.failure = RuntimeError("the model broke")
    await desk.put("late.md", "# Late crane\n\nNot embedded.\n")
    assert (await desk.embed())["remaining"] == 1
    by_words = await desk.find("crane", mode=Mode.LEXICAL)
    failing = await desk.find("crane")
    assert refs(failing) == refs(by_words)
    assert [one.score for one in failing.answer] == [one.score for one in by_words.answer]
    assert "late" in " ".join(refs(failing))
    assert "the model broke" in str(receipt_of(failing, 1, "m")["absent"]["vector"])
    assert failing.degraded
    assert not by_words.degraded

    desk.embedder.failure = None
    assert (await desk.embed())["embedded"] == 1
    assert await desk.library.unembedded(ACME) == 0


async def test_without_a_model_the_words_answer_alone(desk: Desk) -> None:
    """spec 10.5"""
    found = await desk.search(embedder=None).find(ACME, "sluice gate", Terms(), MOMENT)
    assert refs(found) == refs(await desk.find("sluice gate", mode=Mode.LEXICAL))
    assert found.dense.absence == NO_MODEL


async def test_a_store_that_is_away_is_named_and_not_raised(desk: Desk) -> None:
    class Away:
        async def query_batch(self, *_: Any) -> Any:
            raise Unavailable("pulled out")

        fetch = query_batch

    gone = DocSearch(cast("VectorStore", Away()), LexicalAnalyser(), desk.executor, desk.library.space, desk.embedder)
    found = await gone.find(ACME, "crane", Terms(), MOMENT)
    assert found.answer == ()
    assert len(found.degraded) == 2


async def test_both_lists_are_asked_for_four_times_the_results_at_the_same_time(desk: Desk) -> None:
    """spec 10.11"""
    meeting = Meeting(desk.store)
    desk.store = cast("VectorStore", meeting)
    found = await desk.find("crane", limit=6)
    assert sorted((one.using, one.limit) for one in meeting.asked) == [("l3", 24), (LEXICAL, 24)]
    assert found.answer


@pytest.mark.parametrize("fusion", Fusion)
async def test_hits_of_the_words_alone_survive_fusion_decay_and_diversity(desk: Desk, fusion: Fusion) -> None:
    """spec 10.10"""
    assert isinstance(desk.embedder, Fragile)
    desk.embedder.failure = RuntimeError("no vectors")
    await desk.put("2023-11-01/only-words.md", "# Zebra mussels\n\nScrape the hull.\n")
    desk.embedder.failure = None
    found = await desk.find("zebra mussels", fusion=fusion, half_life_days=30.0, diversity=0.7)
    assert "doc:harbour:2023-11-01/only-words.md#zebra-mussels" in refs(found)


async def test_decay_lets_the_dated_fade_and_keeps_the_evergreen(desk: Desk) -> None:
    await desk.put("logs/2023-06-01.md", "# Anchor chain\n")
    await desk.put("anchors.md", "# Anchor chain\n")
    plain, faded = await desk.find("anchor chain"), await desk.find("anchor chain", half_life_days=30.0)
    factors = {one.ref: one.decay for one in faded.ranking}
    assert {one.decay for one in plain.ranking} == {1.0}
    assert factors["doc:harbour:anchors.md#anchor-chain"] == 1.0
    assert factors["doc:harbour:logs/2023-06-01.md#anchor-chain"] < 0.05
    assert refs(faded)[0] == "doc:harbour:anchors.md#anchor-chain"


async def test_diversity_puts_a_copy_behind_something_else(desk: Desk) -> None:
    for copy in ("one.md", "two.md"):
        await desk.put(copy, "# Dredging plan\n\nDredging starts in May at berth nine.\n")
    await desk.put("three.md", "# Dredging budget\n\nMoney for dredging is short this year.\n")
    plain = await desk.find("dredging plan may berth nine", mode=Mode.LEXICAL)
    varied = await desk.find("dredging plan may berth nine", mode=Mode.LEXICAL, diversity=0.3)
    assert {ref.partition("#")[0] for ref in refs(plain)[:2]} == {"doc:harbour:one.md", "doc:harbour:two.md"}
    assert refs(varied)[1] not in refs(plain)[:2]


async def test_a_receipt_replays_to_the_same_ids_and_scores_until_the_corpus_changes(desk: Desk) -> None:
    """spec 10.15"""
    asked: dict[str, Any] = {"fusion": Fusion.WEIGHTED, "half_life_days": 90.0, "diversity": 0.6}
    receipt = receipt_of(await desk.find("crane certificate pump", **asked), await desk.library.version(ACME), "m")
    again = await desk.search(embedder=desk.embedder).find(ACME, receipt["query"], terms_of(receipt), receipt["now"])
    same = compared(receipt, receipt_of(again, await desk.library.version(ACME), "m"))
    assert (same.same, same.differences, same.corpus_now) == (True, (), same.corpus_then)

    await desk.put("more.md", "# Crane certificate pump\n")
    changed = await desk.search(embedder=desk.embedder).find(ACME, receipt["query"], terms_of(receipt), receipt["now"])
    other = compared(receipt, receipt_of(changed, await desk.library.version(ACME), "m"))
    assert not other.same
    assert other.corpus_now > other.corpus_then


async def test_the_receipt_shows_both_lists_the_ranking_and_the_conditions(desk: Desk) -> None:
    receipt = receipt_of(await desk.find("crane of quay"), 7, "model-1")
    assert (receipt["corpus_version"], receipt["embedding"], receipt["query"]) == (7, "model-1", "crane of quay")
    assert receipt["lexical"][0]["rank"] == 1
    assert receipt["vector"]
    first = receipt["fused"][0]
    assert first["fused"] == pytest.approx(first["lexical"] + first["vector"])
    assert set(receipt["timings"]) == {"search_ms", "total_ms"}
    with pytest.raises(Invalid, match="not of a docs search"):
        terms_of({"kind": "assemble"})
