"""Docs search on all engines: two lists at once, one ranking, and an answer whatever is missing (spec 10)."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, cast

import orjson
import pytest
import pytest_asyncio

from lithify.docs.query import FUSIONS, DocFusion, DocQuery, DocTrace, LegWeights
from lithify.docs.search import NO_MODEL
from lithify.docs.terms import QuestionTerms
from lithify.embedding import Vectors
from lithify.errors import Invalid, Unavailable
from lithify.store import LEXICAL, Query, VectorStore
from tests.contract.docs_parts import ACME, NOW_MS, REPO, RIVAL, TIDES, Desk, Fragile, open_desk, refs

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

CRANES = "# Cranes\n\nThe crane of quay 4 lifts forty tonnes.\n\n# Certificates\n\nThe TLS certificate was renewed.\n"
STORMS = "# Storms\n\n台風のときは係留索を二重にする。\n\n# Gates\n\nThe sluice gate closes at four metres.\n"
ERRORS = "# Errors\n\n`0x80070005` is access denied; ERR_TIDE_GAP means HTTP 503 from `TideGauge.readLevel`.\n"
HOSTILE = ['a" OR b', "NEAR(", "*", "foo:bar", "", "   ", "' OR 1=1 --", "crane " * 1700, "\x00\ud7ff", '"' * 10_000]


@pytest_asyncio.fixture
async def desk(bare_store: VectorStore) -> AsyncIterator[Desk]:
    with ThreadPoolExecutor(2) as executor:
        desk = await open_desk(bare_store, Fragile(32, (8, 16, 32)), executor)
        texts = {"logs/2023-10-14.md": TIDES, "cranes.md": CRANES, "storms.md": STORMS, "errors.md": ERRORS}
        for path, text in texts.items():
            await desk.put(path, text)
        await desk.embed()
        yield desk


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("E_PUMP_204", "#pumps"),
        ("p-17", "#pumps"),
        ("9fceb02", "#pumps"),
        ("9fceb02d0ae5", "#pumps"),
        ("9FCEB02D0AE598E95DC970B74767F19372D61AF8", "#pumps"),
        ("valve_guard.py", "#pumps"),
        ("pumps/valve_guard.py", "#pumps"),
        ("2021-03-03", "#_top"),
        ("March 3, 2021", "#_top"),
        ("3rd of March 2021", "#_top"),
        ("2021年3月3日", "#_top"),
        ("2023-10-15", "logs/2023-10-14.md"),
        ("15 October 2023", "logs/2023-10-14.md"),
        ("logs/2023-10-14.md", "logs/2023-10-14.md"),
        ("lifts forty tonnes", "#cranes"),
        ("係留索", "#storms"),
        ("台風 係留索 quay", "#storms"),
        ("0x80070005", "#errors"),
        ("ERR_TIDE_GAP", "#errors"),
        ("503", "#errors"),
        ("readLevel", "#errors"),
    ],
)
async def test_words_find_dates_hashes_paths_identifiers_codes_quotes_and_cjk(
    desk: Desk, query: str, wanted: str
) -> None:
    assert wanted in refs(await desk.find(query, mode="lexical"))[0]


@pytest.mark.parametrize("query", HOSTILE)
async def test_no_query_is_syntax(desk: Desk, query: str) -> None:
    """spec 10.4"""
    found = await desk.find(query)
    assert found.degraded == ()
    assert len(found.hits) <= 6


async def test_an_embedder_that_raises_leaves_the_answer_of_the_words_and_its_reason(desk: Desk) -> None:
    """spec 10.5"""
    desk.embedder.failure = RuntimeError("the model broke")
    await desk.put("late.md", "# Late crane\n\nNot embedded.\n")
    assert await desk.embed() == {"embedded": 0, "remaining": 1}
    for fusion in FUSIONS:
        by_words = await desk.find("crane", mode="lexical", fusion=fusion)
        failing = await desk.find("crane", fusion=fusion)
        assert refs(failing) == refs(by_words)
        assert [hit.scored.score for hit in failing.hits] == [hit.scored.score for hit in by_words.hits]
        assert f"doc:{REPO}:late.md#late-crane" in refs(failing)
        assert failing.trace.vector.absent == "RuntimeError: the model broke"
        assert failing.degraded == ("meaning: RuntimeError: the model broke",)
        assert by_words.degraded == ()
    desk.embedder.failure = None
    assert await desk.embed() == {"embedded": 1, "remaining": 0}


async def test_a_model_that_hangs_is_given_up_at_the_deadline(desk: Desk) -> None:
    release = Event()

    class Hanging(Fragile):
        def embed_query(self, text: str) -> Vectors:
            release.wait(20)
            return super().embed_query(text)

    search = desk.search(Hanging(32, (8, 16, 32)))
    found = await search.find(ACME, DocQuery("crane"), NOW_MS, deadline_s=0.05)
    release.set()
    assert found.trace.vector.absent == "the model did not answer in 0.05 s"
    assert refs(found) == refs(await desk.find("crane", mode="lexical"))


async def test_without_a_model_the_words_answer_alone(desk: Desk) -> None:
    """spec 10.5"""
    found = await desk.search(None).find(ACME, DocQuery("sluice gate"), NOW_MS)
    assert refs(found) == refs(await desk.find("sluice gate", mode="lexical"))
    assert found.trace.vector.absent == NO_MODEL
    with pytest.raises(Unavailable, match=NO_MODEL):
        await desk.search(None).find(ACME, DocQuery("gate", mode="dense"), NOW_MS)


class Away:
    """A store whose search by words, by meaning or by both is away."""

    def __init__(self, store: VectorStore, *using: str) -> None:
        self._store, self._using = store, using

    async def query_batch(self, scope: Any, collection: str, queries: list[Query]) -> Any:
        if queries[0].using in self._using:
            raise Unavailable("pulled out")
        return await self._store.query_batch(scope, collection, queries)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_one_list_answers_for_the_other_and_only_without_both_there_is_no_answer(desk: Desk) -> None:
    store = desk.store
    by_meaning = refs(await desk.find("crane", mode="dense"))
    desk.store = cast("VectorStore", Away(store, LEXICAL))
    found = await desk.find("crane")
    assert refs(found) == by_meaning
    assert found.degraded == ("words: pulled out",)
    desk.store = cast("VectorStore", Away(store, LEXICAL, "l3"))
    with pytest.raises(Unavailable, match="pulled out"):
        await desk.find("crane")


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


async def test_both_lists_are_asked_for_four_times_the_results_at_the_same_time(desk: Desk) -> None:
    """spec 10.11"""
    meeting = Meeting(desk.store)
    desk.store = cast("VectorStore", meeting)
    found = await desk.find("crane", limit=6)
    assert sorted((one.using, one.limit) for one in meeting.asked) == [("l3", 24), (LEXICAL, 24)]
    assert found.degraded == ()
    assert found.trace.vector.hits


@pytest.mark.parametrize("fusion", FUSIONS)
async def test_hits_of_the_words_alone_survive_fusion_decay_and_variety(desk: Desk, fusion: DocFusion) -> None:
    """spec 10.10"""
    await desk.put("2023-11-01/only-words.md", "# Zebra mussels\n\nScrape the hull.\n")
    found = await desk.find("zebra mussels", fusion=fusion, decay=True, mmr=True)
    ranks = {hit.chunk.record_ref: hit.scored.vector_rank for hit in found.hits}
    assert ranks[f"doc:{REPO}:2023-11-01/only-words.md#zebra-mussels"] is None


async def test_decay_lets_the_dated_fade_and_keeps_the_evergreen(desk: Desk) -> None:
    await desk.put("logs/2023-10-15.md", "# Anchor chain\n\nLong.\n")
    await desk.put("MEMORY.md", "# Anchor chain\n\nLong.\n")
    plain, faded = await desk.find("anchor chain"), await desk.find("anchor chain", decay=True)
    factors = {one.ref: one.decay for one in faded.trace.fused}
    assert {one.decay for one in plain.trace.fused} == {1.0}
    assert factors[f"doc:{REPO}:MEMORY.md#anchor-chain"] == 1.0
    assert factors[f"doc:{REPO}:logs/2023-10-15.md#anchor-chain"] == 0.5  # thirty days
    assert refs(faded)[0] == f"doc:{REPO}:MEMORY.md#anchor-chain"


async def test_variety_puts_a_copy_behind_something_else(desk: Desk) -> None:
    for copy in ("one.md", "two.md"):
        await desk.put(copy, "# Dredging plan\n\nDredging starts in May at berth nine.\n")
    await desk.put("three.md", "# Dredging budget\n\nMoney for dredging is short this year.\n")
    asked: dict[str, Any] = {"mode": "lexical", "limit": 3}
    plain = await desk.find("dredging plan may berth nine", **asked)
    varied = await desk.find("dredging plan may berth nine", mmr=True, lambda_=0.3, **asked)
    assert {ref.partition("#")[0] for ref in refs(plain)[:2]} == {f"doc:{REPO}:one.md", f"doc:{REPO}:two.md"}
    assert refs(varied)[1] not in refs(plain)[:2]
    assert varied.hits[0].diversity is not None
    few = await desk.find("dredging plan may berth nine", mmr=True, threshold=0.67, **asked)
    assert len(few.hits) == 1


async def test_repositories_and_kinds_narrow_the_search(desk: Desk) -> None:
    await desk.holdings.put(ACME, "annex", "DECISIONS/crane.md", "# Crane\n\nBuy it.\n")
    assert refs(await desk.find("crane", repos=("annex",))) == ["doc:annex:DECISIONS/crane.md#crane"]
    assert refs(await desk.find("crane", kinds=("decision", "spec"))) == ["doc:annex:DECISIONS/crane.md#crane"]
    assert refs(await desk.find("crane", repos=("annex",), kinds=("log",))) == []


@pytest.mark.parametrize("fusion", FUSIONS)
async def test_a_receipt_replays_to_the_same_ids_and_scores_until_the_corpus_changes(
    desk: Desk, fusion: DocFusion
) -> None:
    """spec 10.15"""
    found = await desk.find("crane certificate pump", fusion=fusion, decay=True, half_life_days=90.0, mmr=True)
    stored = DocTrace.from_json(orjson.loads(orjson.dumps(found.trace.as_json())))
    assert stored == found.trace
    same = await desk.search(desk.embedder).replay(ACME, stored)
    assert (same.same, same.corpus_same, same.differences) == (True, True, ())

    await desk.put("more.md", "# Crane certificate pump\n\nAll of it.\n")
    other = await desk.search(desk.embedder).replay(ACME, stored)
    assert (other.same, other.corpus_same) == (False, False)
    assert "results were" in other.differences[0]


async def test_a_receipt_of_an_earlier_release_is_read_and_replays_by_its_own_fusion(desk: Desk) -> None:
    found = await desk.find("crane", fusion="rrf")
    old = {name: value for name, value in found.trace.as_json().items() if name not in ("terms", "weights")}
    replay = await desk.search(desk.embedder).replay(ACME, DocTrace.from_json(orjson.loads(orjson.dumps(old))))
    assert replay.same
    assert replay.found.trace.query.fusion == "rrf"


async def test_a_replay_says_that_other_tenants_changed_the_rarity_of_words(desk: Desk) -> None:
    found = await desk.find("crane", mode="lexical")
    await desk.put("cranes.md", "# Cranes\n\nA crane, another crane, and a third crane.\n", RIVAL)
    replay = await desk.search(desk.embedder).replay(ACME, found.trace)
    assert (replay.same, replay.corpus_same) == (False, True)
    assert "others wrote meanwhile" in replay.differences[-1]
    assert refs(replay.found) == refs(found)


async def test_a_name_is_found_where_it_stands_though_others_are_nearer(desk: Desk) -> None:
    found = await desk.find("What is wrong with the gate when ERR_TIDE_GAP is told?")
    assert "#errors" in refs(found)[0]
    assert found.trace.terms.exact == ("ERR_TIDE_GAP",)
    assert found.trace.weights is not None
    assert 0.0 < found.trace.weights.meaning < 0.3


async def test_the_receipt_shows_both_lists_the_ranking_and_the_conditions(desk: Desk) -> None:
    await desk.holdings.set_version(ACME, REPO, "9fceb02")
    found = await desk.find("crane of quay")
    trace = found.trace
    assert trace.query == DocQuery("crane of quay")
    assert (trace.now_ms, trace.model) == (NOW_MS, desk.embedder.fingerprint)
    assert trace.corpus == await desk.holdings.corpus(ACME)
    assert trace.corpus.versions == {REPO: "9fceb02"}
    assert [one.rank for one in trace.lexical.hits] == [*range(1, len(trace.lexical.hits) + 1)]
    assert trace.vector.hits[0].score >= trace.vector.hits[-1].score
    first = trace.fused[0]
    assert trace.terms == QuestionTerms(plain=2)
    assert trace.weights == LegWeights(0.7, 0.3, desk.embedder.manifest.background.questions)
    assert first.fused == pytest.approx(0.7 * first.lexical + 0.3 * first.vector)
    assert [(one.ref, one.text) for one in trace.final] == [
        (hit.chunk.record_ref, hit.chunk.text) for hit in found.hits
    ]
    assert set(trace.timings) == {"lexical", "vector", "total"}
    assert found.hits[0].lines == (1, 7)
    with pytest.raises(Invalid, match="not of a docs search"):
        DocTrace.from_json({"kind": "assemble"})
    with pytest.raises(Invalid, match="damaged"):
        DocTrace.from_json({"kind": "docs"})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0),
        ("limit", 101),
        ("multiplier", 0),
        ("mode", "magic"),
        ("fusion", "sum"),
        ("half_life_days", 0.0),
        ("half_life_days", float("nan")),
        ("lambda_", 1.5),
        ("weights", (1.0,)),
        ("repos", ("a:b",)),
        ("kinds", ("novel",)),
        ("text", "x" * 40_000),
    ],
)
def test_a_value_out_of_range_is_named(field: str, value: Any) -> None:
    with pytest.raises(Invalid, match=field.rstrip("s_")):
        DocQuery(**{"text": "x", field: value})
