"""400 turns through the gate and compaction with the real model: what was said can be found and led back to."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from lithify.assembly.library.compaction_routes import expand_summary
from lithify.compaction import Cause
from lithify.embedder.records import make_records
from lithify.embedding import Embedder
from lithify.events import EVERY_TENANT, system_clock
from lithify.gatekeeper.turn_gate import TurnGate, gate_config
from lithify.gatekeeper.worker import GateWorker
from lithify.memory.gating.gate_profile import SEED_GATE
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.vectors.tiers import tier_vector
from lithify.node.parts import collection_spec
from lithify.store import Hit, Query, Record, Where
from lithify.store.memory_record import COLLECTION
from lithify.streams import Delivery
from lithify.streams.delivery import StreamEntry
from tests.compaction_parts import Bench, bench_on
from tests.integration.compaction_process import open_store
from tests.integration.made_conversation import KEY, RULES, Planted, conversation

EVENTS, PLANTED = conversation()
TAIL: Final = 4
# The best five of an active view of some twenty summaries, the tail and the promoted memories.
DEPTH: Final = 5


@pytest.fixture(scope="module")
def turns(default_model: Embedder) -> list[Record]:
    return make_records(EVENTS, default_model, LexicalAnalyser())


@pytest_asyncio.fixture(params=["edge", pytest.param("server", marks=pytest.mark.server)])
async def bench(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    redis: Redis,
    redis_url: str,
    default_model: Embedder,
    turns: list[Record],
) -> AsyncIterator[Bench]:
    """The conversation, stored and gated."""
    place = str(tmp_path) if request.param == "edge" else request.getfixturevalue("server_url")
    async with open_store(place) as store:
        await store.drop(COLLECTION)  # an earlier test's, of another model
        await store.ensure(collection_spec(default_model))
        with bench_on(store, redis, redis_url, default_model) as made:
            made.key, made.target_size = KEY, 20
            await store.upsert(EVERY_TENANT, COLLECTION, turns)
            await gated(made)
            yield made
        await store.drop(COLLECTION)


async def gated(bench: Bench) -> None:
    judge = TurnGate(gate_config(SEED_GATE, None), 0.95, bench.analyser)
    worker = GateWorker(bench.store, bench.redis, bench.embedder.manifest.family, judge, system_clock)
    for at in range(0, len(EVENTS), 64):
        await worker.handle([Delivery(StreamEntry("turns", "1-0", {}, 1), event) for event in EVENTS[at : at + 64]])


async def asked(bench: Bench, question: str) -> list[Hit]:
    vector = tier_vector(bench.embedder.embed_query(question), bench.embedder.manifest.dimensions)
    active = Where().equals("active", True)
    [hits] = await bench.store.query_batch(KEY.scope, COLLECTION, [Query(active, "l3", vector, DEPTH)])
    return hits


def leads_to(hit: Hit, planted: Planted) -> bool:
    return planted.event_id in (hit.payload.get("event_id"), *hit.payload.get("source_ids", ()))


async def test_long_conversation_is_compacted_and_nothing_said_is_out_of_reach(bench: Bench) -> None:
    promoted = {memory.event_id for memory in await bench.memories("memory")}
    result = await bench.run(Cause.TOKENS, tokens=2_000)
    assert result["errors"] == []

    summaries = await bench.records("summary")
    everyone = [event.event_id for event in EVENTS]
    covered = await bench.covered()
    assert len(summaries) >= 20
    assert len(covered) == len(set(covered)) >= 380
    assert all(0.4 <= summary.payload["confidence"] <= 1 for summary in summaries)
    assert result["turns_removed"] == len(covered)
    assert sorted([*covered, *filter(None, await bench.active_turns())]) == everyone
    assert set(everyone[-TAIL:]) <= set(await bench.active_turns())

    # What the gate promoted and what reads like a rule is as it was.
    assert promoted
    assert {memory.event_id for memory in await bench.memories("memory")} == promoted
    assert {shard.text for shard in await bench.memories("guidance")} == set(RULES)

    for summary in summaries:
        expansion = await expand_summary(bench.store, KEY.scope, summary.id)
        assert [turn.payload["event_id"] for turn in expansion.turns] == summary.payload["source_ids"]
    hits = [await asked(bench, planted.question) for planted in PLANTED]
    found = [any(leads_to(hit, planted) for hit in row) for row, planted in zip(hits, PLANTED, strict=True)]
    assert sum(found) >= 19

    before = await bench.everything()
    for cause in (Cause.FORCE, Cause.IDLE, Cause.REQUEST):
        again = await bench.run(cause)
        assert (again["did_compact"], again["turns_removed"]) == (False, 0)
    assert await bench.everything() == before
