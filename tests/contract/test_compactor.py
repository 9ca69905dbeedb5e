"""Compaction on every engine: what a session looks like after it, and that a second run changes nothing."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.compaction import Cause, SessionKey
from lithify.memory.compaction.sanitiser import CODE_OMITTED
from lithify.memory.vectors.tiers import tier_vector
from lithify.store import LEXICAL, TIER_NAMES, Query, SparseVector, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Receipts
from tests.compaction_parts import KEY, NOW, Bench, chat, say

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


async def test_old_turns_leave_the_active_view_and_stay_as_raw_history(bench: Bench) -> None:
    """spec 05.11 (X23)"""
    events = chat(44)
    await bench.tell(events)
    result = await bench.run()
    covered = await bench.covered()
    assert (result["did_compact"], result["turns_removed"], result["errors"]) == (True, 40, [])
    assert covered == [event.event_id for event in events[:40]]
    assert await bench.active_turns() == [event.event_id for event in events[40:]]
    turns = await bench.memories("turn")
    assert [turn.text for turn in turns] == [event.text for event in events]
    into = {source: record.id for record in await bench.records("summary") for source in record.payload["source_ids"]}
    assert {turn.event_id: turn.compacted_into for turn in turns if not turn.active} == into


async def test_second_run_changes_nothing_whatever_its_cause(bench: Bench) -> None:
    """spec 05.11"""
    await bench.tell(chat(44))
    await bench.run()
    before = await bench.everything()
    for cause in Cause:
        again = await bench.run(cause)
        assert (again["did_compact"], again.get("clusters_formed", 0)) == (False, 0)
    assert await bench.everything() == before


async def test_summary_is_an_ordinary_record_that_says_where_it_comes_from(bench: Bench) -> None:
    """spec 05.9: times, measures and lineage; the vectors of every record"""
    await bench.tell(chat(14))
    result = await bench.run()
    [record] = await bench.records("summary", (*TIER_NAMES, LEXICAL))
    [summary] = await bench.memories("summary")
    assert (summary.scope, summary.session, summary.method, summary.ts) == ("session", "s1", "extractive", 1_009)
    assert summary.confidence == pytest.approx(result["mean_confidence"])
    assert summary.decay_rate == pytest.approx(1 - (summary.confidence or 0))
    lineage = summary.lineage or {}
    assert (lineage["source_ts_min"], lineage["source_ts_max"], lineage["compacted_at"]) == (1_000, 1_009, NOW)
    assert lineage["conf_embed"] == pytest.approx((lineage["align"] + lineage["cover"]) / 2)
    assert lineage["source_turn_ids"] == list(summary.source_ids)
    assert {name: len(vector) for name, vector in record.vectors.items()} == {"l1": 8, "l2": 16, "l3": 32}
    assert record.lexical is not None
    assert record.lexical.indices


async def test_summary_is_found_by_meaning_and_by_words_in_the_active_view(bench: Bench) -> None:
    """spec 05.11 (X24)"""
    await bench.tell(chat(24))
    await bench.run()
    summary = (await bench.records("summary"))[0]
    text = summary.payload["text"]
    active = Where().equals("session", "s1").equals("active", True)
    dense = tier_vector(bench.embedder.embed_query(text), 32)
    indices, values = bench.analyser.query_vector(text)
    words = SparseVector(tuple(indices), tuple(values))
    queries = [Query(active, "l3", dense, 1), Query(active, LEXICAL, words, 1)]
    found = await bench.store.query_batch(KEY.scope, COLLECTION, queries)
    assert [hit.id for hits in found for hit in hits] == [summary.id, summary.id]


async def test_receipts_of_turns_name_their_summary(bench: Bench, redis: Redis) -> None:
    await bench.tell(chat(14))
    for number in range(14):
        await redis.hset(f"lithify:receipt:acme:s1-{number:03}", "accepted_at", "1")
        await redis.expire(f"lithify:receipt:acme:s1-{number:03}", 100)
    await bench.run()
    [summary] = await bench.records("summary")
    receipts = [await Receipts(redis).read("acme", f"s1-{number:03}") for number in range(14)]
    assert [(receipt or {}).get("compacted_into") for receipt in receipts] == [summary.id] * 10 + [None] * 4


async def test_tail_and_bundles_stay_whole(bench: Bench) -> None:
    """spec 05.12, spec 07.12"""
    await bench.tell(chat(13))
    await bench.run()
    # The newest four begin with an answer, so the question before it stays, too.
    assert await bench.active_turns() == [f"s1-{number:03}" for number in range(8, 13)]
    assert await bench.covered() == [f"s1-{number:03}" for number in range(8)]


async def test_plain_request_waits_for_a_full_cluster(bench: Bench) -> None:
    """X22"""
    await bench.tell(chat(12))
    assert not (await bench.run(Cause.REQUEST))["did_compact"]
    await bench.tell(chat(2, start=12))
    assert (await bench.run(Cause.REQUEST))["turns_removed"] == 10


async def test_token_trigger_looks_at_what_is_there_not_at_its_counter(bench: Bench) -> None:
    """spec 11, automatic compaction"""
    await bench.tell(chat(14))
    states = bench.parts().states
    await states.add_tokens({KEY: 5_000})
    present = sum(turn.token_estimate for turn in await bench.memories("turn"))
    result = await bench.run(Cause.TOKENS, tokens=present + 1)
    assert result == {"did_compact": False, "uncovered_tokens": present}
    assert (await states.read(KEY)).tokens == present
    assert (await bench.run(Cause.TOKENS, tokens=present))["did_compact"]
    assert (await states.read(KEY)).tokens == 0


async def test_tokens_counted_while_a_run_goes_on_are_kept(bench: Bench) -> None:
    await bench.tell(chat(14))
    states = bench.parts().states
    await states.add_tokens({KEY: 300})
    progress = await states.read(KEY)
    await states.add_tokens({KEY: 40})
    await states.settle(KEY, progress.tokens)
    assert (await states.read(KEY)).tokens == 40


async def test_sessions_of_other_users_and_tenants_are_not_touched(bench: Bench) -> None:
    await bench.tell(chat(14))
    neighbours = [SessionKey("acme", "bob", "s1"), SessionKey("other", "ada", "s1"), SessionKey("acme", "ada", "s2")]
    for key in neighbours:
        bench.key = key
        await bench.tell([replace(event, event_id=f"{key.user}-{event.event_id}") for event in chat(14, key=key)])
    bench.key = KEY
    await bench.run()
    assert await bench.covered() == [f"s1-{number:03}" for number in range(10)]
    for key in neighbours:
        bench.key = key
        assert len(await bench.memories("turn", active=True, session=key.session)) == 14
        assert await bench.memories("summary", session=key.session) == []


async def test_new_turns_are_compacted_on_top_of_earlier_summaries(bench: Bench) -> None:
    await bench.tell(chat(14))
    await bench.run()
    first = await bench.records("summary")
    await bench.tell(chat(10, start=14))
    assert (await bench.run())["turns_removed"] == 10
    assert [record.id for record in await bench.records("summary")][:1] == [record.id for record in first]
    assert await bench.covered() == [f"s1-{number:03}" for number in range(20)]


async def test_turn_written_again_by_a_late_redelivery_is_retired_again(bench: Bench) -> None:
    """A zombie embedding worker may store a turn anew, active as on its first day."""
    events = chat(14)
    await bench.tell(events)
    await bench.run()
    before = await bench.everything()
    await bench.tell(events[3:5])
    assert len(await bench.active_turns()) == 6
    result = await bench.run()
    assert (result["turns_removed"], await bench.everything()) == (2, before)


async def test_turn_without_vectors_is_embedded_on_the_way(bench: Bench) -> None:
    events = chat(14)
    await bench.tell(events)
    [record] = await bench.records("turn", event_id="s1-004")
    await bench.store.upsert(KEY.scope, COLLECTION, [record])
    assert (await bench.run())["turns_removed"] == 10


async def test_pasted_code_is_hidden_from_the_summary_and_stays_in_the_turn(bench: Bench) -> None:
    """spec 05.14"""
    events = chat(14)
    code = "```\n" + "value = value + 1\n" * 20 + "```"
    events[2:8] = [say(number, f"{events[number].text}\n{code}") for number in range(2, 8)]
    await bench.tell(events)
    await bench.run()
    [summary] = await bench.memories("summary")
    assert "value = value" not in summary.text
    assert [turn.text for turn in (await bench.memories("turn"))[2:8]] == [event.text for event in events[2:8]]
    assert CODE_OMITTED not in "".join(turn.text for turn in await bench.memories("turn"))
