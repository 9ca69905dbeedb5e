"""The properties of the gate that need a store (spec 04), on every engine."""

from dataclasses import replace

import orjson
import pytest
from redis.asyncio import Redis

from lithify.errors import Unavailable
from lithify.events import Event
from lithify.events.event import encode_event
from lithify.memory.gating.gate import GateConfig
from lithify.store import LEXICAL, TIER_NAMES, Record, VectorStore, Where
from lithify.store.guidance_record import guidance_id
from lithify.store.memory_record import COLLECTION, MemoryRecord
from lithify.streams import Consumer, keys
from lithify.streams.generations import durable_subject, read_generations
from lithify.streams.groups import GATE
from tests.integration.stream_parts import CALM, eventually, running
from tests.unit.gatekeeper.counting_store import CountingStore
from tests.unit.gatekeeper.gate_parts import (
    ACME,
    FAMILY,
    NOW,
    TEA,
    TRIP,
    Gate,
    at,
    axis,
    delivered,
    memory_id,
    memory_record,
    said,
    turn_record,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

SIGNALS = ("t", "h", "r", "d", "p", "a", "dtech", "gconv", "gtech", "score", "input_freq", "mem_saturation")


@pytest.fixture
def gate(memories: VectorStore, redis: Redis) -> Gate:
    return Gate(memories, redis)


async def test_a_turn_worth_keeping_is_copied_with_its_vectors(gate: Gate) -> None:
    event = said("e1", source_ref="chat")
    await gate.store_turns((event, at(0.6)))
    await gate.gate(event)
    [made] = await gate.store.fetch(ACME, COLLECTION, [memory_id(event)], with_vectors=(*TIER_NAMES, LEXICAL))
    memory = MemoryRecord.from_payload(made.payload)
    assert (memory.kind, memory.scope, memory.provenance) == ("memory", "user", "durable_user_memory")
    assert (memory.text, memory.user, memory.session, memory.event_id, memory.role) == (TEA, "ada", "s", "e1", "user")
    assert (memory.ts, memory.source_ref, memory.position) == (1_000, "chat", None)
    assert memory.gating_score == pytest.approx(0.45)
    assert memory.stability == 0.5
    source = turn_record(event, at(0.6))
    assert made.lexical == source.lexical
    assert {name: vector.tolist() for name, vector in made.vectors.items()} == {
        name: vector.tolist() for name, vector in source.vectors.items()
    }


async def test_a_stored_decision_reproduces_its_score(gate: Gate) -> None:
    """spec 04.13"""
    event, config = said("e1", "I prefer main over dev since we fixed app/queue.py"), GateConfig()
    await gate.gated(event)
    payload = (await gate.memories())["e1"]
    stored = {name: float(payload[f"gating_{name}"]) for name in SIGNALS}
    assert payload["gating_patterns"] == "gp1"
    talk = zip(config.conversational, (stored["h"], stored["r"], stored["d"]), strict=True)
    technology = zip(config.technical, (stored["p"], stored["a"], stored["dtech"]), strict=True)
    gconv, gtech = (sum(weight * signal for weight, signal in pairs) for pairs in (talk, technology))
    assert 0 < stored["t"] < 1
    assert stored["score"] == pytest.approx((1 - stored["t"]) * gconv + stored["t"] * gtech, abs=1e-9)


async def test_turn_and_receipt_tell_the_decision_whatever_it_is(gate: Gate) -> None:
    await gate.put(memory_record(said("m", TRIP), axis(0)))
    kept, refused = said("e1"), said("e2", "that is nice")
    await gate.store_turns((kept, axis(1)), (refused, axis(0)))
    await gate.gate(kept, refused)
    for event, promoted in ((kept, "1"), (refused, "0")):
        turn, receipt = await gate.turn(event), await gate.receipt(event)
        signals = orjson.loads(receipt["gate"])
        assert (receipt["promoted"], receipt["gated_at"]) == (promoted, str(NOW))
        assert signals.pop("threshold") == 0.35
        assert signals.pop("gating_patterns") == turn["gating_patterns"]
        assert signals == pytest.approx({name: turn[name] for name in signals})
        assert len(signals) == len(SIGNALS)
    assert (await gate.receipt(kept))["memory_id"] == (await gate.turn(kept))["memory_id"] == memory_id(kept)
    assert "memory_id" not in await gate.receipt(refused)
    assert set(await gate.memories()) == {"m", "e1"}


async def test_nothing_known_is_all_new(gate: Gate) -> None:
    """spec 04.1 and 04.10: the boundary promotes."""
    turn = await gate.gated(said("e1", "hello"))
    assert (turn["gating_h"], turn["gating_score"]) == (1.0, 0.35)
    assert set(await gate.memories()) == {"e1"}


async def test_opposite_memories_count_as_unrelated(gate: Gate) -> None:
    """spec 04.1"""
    await gate.put(memory_record(said("m1", TRIP), at(0.75)), memory_record(said("m2", TRIP), at(-0.25)))
    turn = await gate.gated(said("e1"))
    assert turn["gating_h"] == pytest.approx(0.625, abs=1e-6)


async def test_saturation_vetoes_repetition(gate: Gate) -> None:
    """spec 04.2"""
    repeats = [said(f"t{n}", ts=n) for n in range(5)]
    await gate.store_turns(*repeats)
    await gate.put(*(memory_record(said(f"m{n}", TRIP), at(0.9, n)) for n in (1, 2)))
    twice = await gate.gated(said("e1"))
    assert (twice["gating_input_freq"], twice["gating_r"]) == (1.0, pytest.approx(1 / 3))
    await gate.put(memory_record(said("m3", TRIP), at(0.9, 3)))
    thrice = await gate.gated(said("e2"))
    assert (thrice["gating_input_freq"], thrice["gating_r"]) == (1.0, 0.0)


async def test_the_limits_of_repetition_and_saturation_are_inclusive(gate: Gate) -> None:
    """spec 04.3"""
    await gate.store_turns((said("t1", ts=1), at(0.80)), (said("t2", ts=2), at(0.7999)))
    await gate.put(memory_record(said("m1", TRIP), at(0.85)), memory_record(said("m2", TRIP), at(0.8499)))
    turn = await gate.gated(said("e1"))
    assert turn["gating_input_freq"] == pytest.approx(1 / 5)
    assert turn["gating_mem_saturation"] == pytest.approx(1 / 3)


async def test_a_turn_does_not_find_itself(gate: Gate) -> None:
    """spec 04.11"""
    turn = await gate.gated(said("e1"))
    assert turn["gating_input_freq"] == 0.0


@pytest.mark.parametrize(
    "other",
    [
        said("t1", user="bob"),
        said("t1", tenant="rival"),
        said("t1", role="assistant"),
        said("t1", ts=1_001),
    ],
    ids=["another user", "another tenant", "an answer", "a later turn"],
)
async def test_only_earlier_turns_of_the_same_user_are_repetition(gate: Gate, other: Event) -> None:
    await gate.store_turns(other)
    assert (await gate.gated(said("e1")))["gating_input_freq"] == 0.0
    await gate.store_turns(said("t2", ts=1_000, session="another"))
    assert (await gate.gated(said("e2")))["gating_input_freq"] == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    "record",
    [
        memory_record(said("m", TRIP, user="bob")),
        memory_record(said("m", TRIP, tenant="rival")),
        memory_record(said("m", TRIP), scope="global"),
        memory_record(said("m", TRIP), kind="guidance"),
    ],
    ids=["another user", "another tenant", "shared", "guidance"],
)
async def test_only_durable_memory_of_the_same_user_is_known(gate: Gate, record: Record) -> None:
    await gate.put(record)
    assert (await gate.gated(said("e1")))["gating_h"] == 1.0


async def test_each_turn_costs_two_searches(gate: Gate) -> None:
    """spec 04.12"""
    counting = CountingStore(gate.store)
    events = [said(f"e{n}", ts=n) for n in range(3)]
    await gate.store_turns(*events)
    await replace(gate, store=counting).gate(*events, said("a", role="assistant"))
    assert [query.limit for query in counting.queries] == [10, 5] * 3


async def test_only_user_turns_are_gated(gate: Gate) -> None:
    """spec 04.14"""
    answer, rule = said("e1", role="assistant"), said("e2", role="system")
    await gate.store_turns(answer, rule)
    await gate.gate(answer, rule)
    assert await gate.memories() == {}
    assert "gating_score" not in await gate.turn(answer)
    receipt = await gate.receipt(rule)
    assert (receipt["promoted"], receipt["gate"]) == ("0", '{"skipped":"role system is never gated"}')


async def test_always_keeps_every_turn_and_its_signals(gate: Gate) -> None:
    await gate.put(memory_record(said("m", TRIP)))
    always = replace(gate, config=GateConfig(durable_admission="always"))
    turn = await always.gated(said("e1", "that is nice"))
    assert turn["gating_score"] < 0.35
    assert (await gate.memories())["e1"]["gating_score"] == turn["gating_score"]


async def test_the_chosen_pattern_set_decides(gate: Gate) -> None:
    text = "I want to go home"
    refused = await gate.gated(said("e1", text))
    kept = await replace(gate, config=GateConfig(patterns="gp2")).gated(said("e2", text), axis(1))
    assert (refused["gating_patterns"], "memory_id" in refused) == ("gp1", False)
    assert (kept["gating_patterns"], "memory_id" in kept) == ("gp2", True)


async def test_a_compacted_turn_stays_compacted_and_its_memory_is_active(gate: Gate) -> None:
    event = said("e1")
    await gate.store_turns(event)
    put_away = {"active": False, "compacted_into": "summary"}
    await gate.store.set_payload(ACME, COLLECTION, Where().equals("event_id", "e1"), put_away)
    await gate.gate(event)
    turn, memory = await gate.turn(event), (await gate.memories())["e1"]
    assert (turn["active"], turn["compacted_into"], turn["gating_score"]) == (False, "summary", pytest.approx(0.45))
    assert memory["active"]
    assert "compacted_into" not in memory


async def test_a_promotion_moves_the_generation_of_its_user_only(gate: Gate, redis: Redis) -> None:
    subjects = [durable_subject("ada"), durable_subject("bob")]
    await gate.gated(said("e1"))
    assert await read_generations(redis, "acme", subjects) == (1, 0)
    await gate.gated(said("e2", "that is nice"))
    assert await read_generations(redis, "acme", subjects) == (1, 0)


async def test_a_turn_without_a_vector_waits_for_it(gate: Gate) -> None:
    event = said("e1")
    await gate.store_turns(event)
    await gate.put(replace(turn_record(event), vectors={}))
    worker = await gate.gate(event)
    assert (await gate.memories(), worker.tally.waiting) == ({}, 1)
    assert "no full vector yet" in (await gate.receipt(event))["gate"]
    await gate.put(turn_record(event))
    await gate.gate(event)
    assert set(await gate.memories()) == {"e1"}
    assert (await gate.receipt(event))["promoted"] == "1"


async def test_a_turn_forgotten_meanwhile_leaves_nothing(gate: Gate) -> None:
    event = said("e1")
    await gate.store_turns(event)
    await gate.store.delete(ACME, COLLECTION, Where().equals("event_id", "e1"))
    await gate.gate(event)
    assert await gate.everything() == {}


async def test_an_outage_is_waited_out_and_changes_nothing(gate: Gate) -> None:
    event = said("e1")
    await gate.store_turns(event)
    before = await gate.everything()
    with pytest.raises(Unavailable):
        await replace(gate, store=CountingStore(gate.store, fails=Unavailable())).gate(event)
    assert await gate.everything() == before
    assert "promoted" not in await gate.receipt(event)


async def test_a_failing_gate_costs_its_turn_the_promotion_and_nothing_else(gate: Gate) -> None:
    """spec 04.14"""
    event = said("e1")
    await gate.store_turns(event)
    before = await gate.everything()
    worker = await replace(gate, store=CountingStore(gate.store, fails=RuntimeError("broken"))).gate(event)
    assert worker.tally.failed == 1
    assert await gate.everything() == before
    receipt = await gate.receipt(event)
    assert (receipt["promoted"], receipt["error"]) == ("0", "not gated: RuntimeError: broken")


async def test_the_rest_of_a_batch_goes_on_without_a_turn_that_fails(gate: Gate, redis: Redis) -> None:
    events = [said(f"e{n}", ts=n) for n in (1, 2, 3)]
    await gate.store_turns(*((event, axis(event.ts)) for event in events))
    for event in events:
        await redis.xadd(keys.stored(0), {"event": encode_event(event)})
    worker = replace(gate, store=CountingStore(gate.store, RuntimeError("broken"), only_for="e2")).worker()
    consumer = Consumer(redis, [keys.stored(0)], GATE, "gate-0", worker.handle, CALM, lambda: NOW)
    async with running(consumer):
        await eventually(lambda: consumer.tally.handled == len(events))
    assert set(await gate.memories()) == {"e1", "e3"}
    assert (worker.tally.failed, await redis.xlen(keys.dead(0))) == (1, 0)
    assert [(await gate.receipt(event))["promoted"] for event in events] == ["1", "0", "1"]


async def test_a_standing_instruction_is_kept_whether_the_turn_is_promoted_or_not(gate: Gate) -> None:
    event = said("e1", "From now on answer in German.")
    await gate.store_turns((event, axis(0)), (said("e2", "Delete the staging database."), axis(1)))
    await gate.gate(event, said("e2", "Delete the staging database."))
    await gate.gate(event)
    page = await gate.store.scroll(ACME, COLLECTION, Where().equals("kind", "guidance"), limit=9)
    [kept] = [MemoryRecord.from_payload(record.payload) for record in page.records]
    assert (kept.text, kept.scope, kept.event_id, kept.active) == (event.text, "user", "e1", True)
    assert kept.general
    assert page.records[0].id == guidance_id("acme", "e1", FAMILY)


async def test_no_instruction_is_kept_where_guidance_is_off(gate: Gate) -> None:
    event = said("e1", "From now on answer in German.")
    await gate.store_turns((event, axis(0)))
    await replace(gate.worker(), keeps_instructions=False).handle([delivered(event)])
    assert await gate.store.count(ACME, COLLECTION, Where().equals("kind", "guidance")) == 0
