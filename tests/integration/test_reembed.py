"""Moving to another model changes vectors, ids and links, and nothing else; whatever happens meanwhile is kept."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest
import pytest_asyncio
from qdrant_client import AsyncQdrantClient

from lithify.cli.rebuild import describe_reembedding
from lithify.errors import Misconfigured
from lithify.events import EVERY_TENANT, TenantScope
from lithify.indexing import lexical_vector
from lithify.node.reembed import PREFIX, ReembedNotVerified, ReembedReport
from lithify.store import Record, ServerStore, Where
from lithify.store.memory_record import COLLECTION
from lithify.store.migration import id_in_family, migrate_payload
from tests.integration.reembed_parts import (
    ANALYSER,
    BAD,
    BATCH,
    Move,
    NamedEmbedder,
    derived_points,
    moving,
    turn_points,
    turns,
)
from tests.unit.embedder.backfill_parts import plain

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ACME = TenantScope("acme")

Action = Callable[[], Awaitable[None]]


@pytest_asyncio.fixture
async def move() -> AsyncIterator[Move]:
    """In memory: making and dropping collections is what takes an engine on disk long."""
    store = ServerStore("http://local", client=AsyncQdrantClient(":memory:"))
    async with moving(store, NamedEmbedder("new", 24, (4, 12, 24))) as move:
        yield move
    await store.close()


@pytest_asyncio.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
async def real_move(request: pytest.FixtureRequest) -> AsyncIterator[Move]:
    """On the engines that keep what they are given."""
    shared = request.param == "edge"
    store = request.getfixturevalue("edge_store") if shared else ServerStore(request.getfixturevalue("server_url"))
    async with moving(store, NamedEmbedder("new", 24, (4, 12, 24))) as move:
        yield move
    if not shared:
        await store.close()


async def test_the_moved_records_are_those_the_new_model_would_have_made(real_move: Move) -> None:
    former = await real_move.contents()
    report = await real_move.reembed().run()
    assert await real_move.contents() == real_move.made_by(real_move.new)
    assert report.records == len(former)
    assert report.kept is not None
    assert await real_move.contents(report.kept) == former
    assert (report.embedded, report.failed, report.late) == (len(former) - 2, 0, 0)


async def test_a_model_of_the_same_family_keeps_the_ids(move: Move) -> None:
    sharper = NamedEmbedder("old", 24, (4, 12, 24))
    ids = set(await move.contents())
    await move.reembed(sharper).run()
    assert set(await move.contents()) == ids
    assert await move.contents() == move.made_by(sharper)


async def test_a_model_without_prefixes_can_be_moved_to(move: Move) -> None:
    whole = NamedEmbedder("whole", 16, ())
    await move.reembed(whole).run()
    assert await move.contents() == move.made_by(whole)


async def test_a_second_run_has_nothing_to_do(move: Move) -> None:
    first = await move.reembed().run()
    moved = await move.contents()
    await move.store.drop(first.kept or "")
    assert await move.reembed().run() == ReembedReport()
    assert await move.contents() == moved


async def test_there_and_back_again_gives_the_same_records(move: Move) -> None:
    former = await move.contents()
    there = await move.reembed().run()
    back = await move.reembed(move.old).run()
    assert await move.contents() == former
    with pytest.raises(Misconfigured, match=f"{there.kept} still keeps.*--drop-old"):
        await move.reembed().run()
    assert back.kept is not None


async def test_what_the_new_model_cannot_embed_is_found_by_its_words(move: Move) -> None:
    former = await move.contents()
    [record] = turn_points([replace(move.events[0], text="plain words")], move.old)
    text = f"{BAD} words"
    await move.put([replace(record, payload={**record.payload, "text": text})])
    report = await move.reembed().run()
    assert (report.failed, report.embedded) == (1, len(former) - 3)
    payload, vectors, words = (await move.contents())[id_in_family(record, "new")]
    known = replace(record, lexical=lexical_vector(text, ANALYSER, record.payload["ts"]))
    assert (vectors, words) == ({}, plain(known)[-1])
    assert payload["missing_tiers"] == ["l1", "l2", "l3"]


async def test_what_the_former_model_could_not_embed_is_embedded_now(move: Move) -> None:
    [record] = turn_points(move.events[:1], move.old)
    await move.put([replace(record, vectors={}, payload={**record.payload, "missing_tiers": ["l1", "l2", "l3"]})])
    await move.reembed().run()
    assert await move.contents() == move.made_by(move.new)


async def test_a_record_of_an_unknown_kind_is_moved_too(move: Move) -> None:
    stranger = Record(turn_points(turns(1, 500), move.old)[0].id, {"tenant": "acme", "user": "u", "kind": "riddle"})
    await move.put([stranger])
    await move.reembed().run()
    page = await move.store.scroll(EVERY_TENANT, COLLECTION, Where().equals("kind", "riddle"), limit=2)
    assert [record.payload for record in page.records] == [stranger.payload]


async def test_records_that_would_share_an_id_stop_the_move(move: Move) -> None:
    [record] = turn_points(turns(1, 500), move.old)
    await move.put([replace(record, id=turn_points(turns(1, 501), move.old)[0].id), record])
    former = await move.contents()
    with pytest.raises(ReembedNotVerified, match="share an id"):
        await move.reembed().run()
    assert await move.contents() == former


async def test_there_must_be_something_to_move(move: Move) -> None:
    await move.store.drop(COLLECTION)
    with pytest.raises(Misconfigured, match="no collection memories"):
        await move.reembed().run()


@pytest.mark.parametrize("point", ["reembed_before_switch", "reembed_after_switch"])
async def test_dying_around_the_switch_switches_once(
    real_move: Move, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    former = await real_move.contents()
    await real_move.die_at(point, monkeypatch)
    moved = real_move.made_by(NamedEmbedder("new", 24, (4, 12, 24)))
    assert await real_move.contents() == (former if point == "reembed_before_switch" else moved)
    done = len(real_move.new.texts)
    report = await real_move.reembed().run()
    assert len(real_move.new.texts) == done, "nothing is embedded twice"
    assert await real_move.contents() == moved
    assert report.kept is not None
    assert await real_move.contents(report.kept) == former


async def test_dying_while_embedding_costs_only_what_was_not_stored(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    await move.die_at("reembed_batch", monkeypatch)
    assert 0 < len(move.new.texts) <= BATCH
    await move.reembed().run()
    assert len(move.new.texts) == len(set(move.new.texts)) == len(await move.contents()) - 2
    assert await move.contents() == move.made_by(move.new)


async def test_what_was_forgotten_since_the_death_does_not_come_back(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    await move.die_at("reembed_before_switch", monkeypatch)
    await move.store.delete(TenantScope("globex", "u1"), COLLECTION, Where())
    await move.reembed().run()
    kept = [event for event in move.events if (event.tenant, event.user) != ("globex", "u1")]
    assert await move.contents() == move.made_by(move.new, kept)


async def idle() -> None:
    """Services that do nothing."""


def while_switching(
    move: Move, monkeypatch: pytest.MonkeyPatch, *, before: Action = idle, after: Action = idle
) -> None:
    switch = move.store.switch

    async def switched(name: str, other: str) -> None:
        await before()
        await switch(name, other)
        await after()

    monkeypatch.setattr(move.store, "switch", switched)


async def test_what_is_written_until_the_switch_is_brought_over(
    real_move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = turns(10, 100)
    changed = Where().equals("event_id", "e0")

    async def before() -> None:
        await real_move.put(turn_points(late, real_move.old))
        await real_move.store.set_payload(ACME, COLLECTION, changed, {"gating_score": 0.5})
        await real_move.store.delete(ACME, COLLECTION, Where().equals("event_id", "e2"))

    while_switching(real_move, monkeypatch, before=before)
    report = await real_move.reembed().run()
    kept = [event for event in [*real_move.events, *late] if event.event_id != "e2"]
    expected = real_move.made_by(real_move.new, kept)
    [scored] = [payload for payload, *_ in expected.values() if payload.get("event_id") == "e0"]
    scored["gating_score"] = 0.5
    assert await real_move.contents() == expected
    assert report.late == len(late)


async def test_what_services_do_after_the_switch_is_not_undone(move: Move, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = turns(3, 200)

    async def after() -> None:
        await move.put(turn_points(fresh, move.new))
        await move.store.delete(ACME, COLLECTION, Where().equals("event_id", "e2"))
        await move.store.set_payload(ACME, COLLECTION, Where().equals("event_id", "e0"), {"active": False})

    while_switching(move, monkeypatch, after=after)
    await move.reembed().run()
    kept = [event for event in [*move.events, *fresh] if event.event_id != "e2"]
    expected = move.made_by(move.new, kept)
    [retired] = [payload for payload, *_ in expected.values() if payload.get("event_id") == "e0"]
    retired["active"] = False
    assert await move.contents() == expected


async def test_vectors_of_the_former_model_written_after_the_switch_are_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a service that has not seen it yet; only vectors of the same length get that far."""
    store = ServerStore("http://local", client=AsyncQdrantClient(":memory:"))
    async with moving(store, NamedEmbedder("new")) as move:
        stray = turns(3, 300)

        async def after() -> None:
            await move.put(turn_points(stray, move.old))

        while_switching(move, monkeypatch, after=after)
        report = await move.reembed().run()
        assert await move.contents() == move.made_by(move.new, [*move.events, *stray])
        assert report.late == len(stray)
    await store.close()


def test_the_id_under_another_family_is_the_one_its_writer_would_give() -> None:
    old, new = NamedEmbedder("old"), NamedEmbedder("new")
    for here, there in zip(
        [*turn_points(turns(2), old), *derived_points(old)],
        [*turn_points(turns(2), new), *derived_points(new)],
        strict=True,
    ):
        assert id_in_family(here, "old") == here.id
        assert id_in_family(here, "new") == there.id


def test_what_says_it_anew_is_found_under_its_new_id() -> None:
    [turn, *_] = turn_points(turns(1), NamedEmbedder("old"))
    marks = {"superseded_by": "old-id", "superseded_by_turn": "e2", "supersedes": "older-id"}
    moved = migrate_payload(
        replace(turn, payload={**turn.payload, **marks}), {"old-id": "new-id", "older-id": "newer"}, "new"
    )
    assert {name: moved[name] for name in marks} == {
        "superseded_by": "new-id",
        "superseded_by_turn": "e2",
        "supersedes": "newer",
    }


def test_dates_are_counted_anew() -> None:
    [turn, *_] = turn_points(turns(1), NamedEmbedder("old"))
    earlier = replace(turn, payload={**turn.payload, "text": "We met on 9 April.", "anchors": 0.0})
    assert migrate_payload(earlier, {}, "new")["anchors"] == pytest.approx(1 / 3)


def test_the_summary_says_what_to_do_next() -> None:
    told = describe_reembedding(ReembedReport(records=3, embedded=2, kept=f"{PREFIX}x"), "nomic")
    assert "3 records moved to nomic: 2 embedded" in told
    assert "LITHIFY_EMBEDDING_PROFILE=nomic" in told
    assert "reembed --drop-old" in told
    assert "already" in describe_reembedding(ReembedReport(), "nomic")
