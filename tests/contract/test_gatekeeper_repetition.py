"""What is said again joins the memory that holds it, and what is delivered again changes nothing."""

from dataclasses import replace
from functools import partial

import pytest
from redis.asyncio import Redis

from lithify.gatekeeper import worker
from lithify.memory.gating.gate import GateConfig
from lithify.store import VectorStore, Where
from lithify.store.memory_record import COLLECTION
from tests.unit.gatekeeper.gate_parts import (
    ACME,
    TEA,
    TRIP,
    Gate,
    at,
    axis,
    memory_id,
    memory_record,
    said,
    turn_record,
)

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

WINDOWS = ("after_gate_search", "after_gate_record", "after_promotion")


class Crash(BaseException):
    """Nothing catches it, as nothing catches the end of a process."""


def die_at(window: str, name: str) -> None:
    if name == window:
        raise Crash


@pytest.fixture
def gate(memories: VectorStore, redis: Redis) -> Gate:
    return Gate(memories, redis)


@pytest.fixture
def eager(gate: Gate) -> Gate:
    """Promotes whatever is not worthless, so that repetitions get as far as merging."""
    return replace(gate, config=GateConfig(threshold=0.1))


async def test_what_is_said_again_joins_the_memory_that_holds_it(eager: Gate) -> None:
    await eager.gated(said("e1", ts=1_000))
    again = await eager.gated(said("e2", "I prefer tea over coffee on LONG train rides!", ts=2_000))
    memories = await eager.memories()
    assert set(memories) == {"e1"}
    assert (memories["e1"]["mentions"], memories["e1"]["ts"], memories["e1"]["text"]) == (["e2"], 2_000, TEA)
    assert again["memory_id"] == memory_id(said("e1"))
    assert (await eager.receipt(said("e2")))["memory_id"] == memory_id(said("e1"))


async def test_an_older_mention_does_not_make_a_memory_older(eager: Gate) -> None:
    await eager.gated(said("e1", ts=2_000))
    await eager.gated(said("e2", ts=1_000))
    memory = (await eager.memories())["e1"]
    assert (memory["mentions"], memory["ts"]) == (["e2"], 2_000)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("My train leaves at 9:30", "My train leaves at 10:30"),
        ("I like tea over coffee", "I like coffee over tea"),
        ("I like coriander", "I don't like coriander"),
        ("My sister lives in Oslo", "My sister Anna lives in Oslo"),
    ],
    ids=["number", "order", "negation", "addition"],
)
async def test_a_promoted_turn_that_says_something_else_never_joins(gate: Gate, known: str, new: str) -> None:
    always = replace(gate, config=GateConfig(durable_admission="always"))
    await always.gated(said("e1", known))
    await always.gated(said("e2", new, ts=2_000))
    assert set(await gate.memories()) == {"e1", "e2"}


async def test_what_is_not_close_is_kept_apart(eager: Gate) -> None:
    await eager.gated(said("e1"))
    await eager.gated(said("e2", ts=2_000), at(0.94))
    assert set(await eager.memories()) == {"e1", "e2"}


async def test_a_merged_memory_counts_as_often_as_it_was_said(gate: Gate) -> None:
    """One memory alone would never saturate, and a sentence said daily would be admitted daily."""
    await gate.put(memory_record(said("m", TRIP), at(0.9), mentions=["t1", "t2"]))
    turn = await gate.gated(said("e1"))
    assert turn["gating_mem_saturation"] == 1.0


async def test_a_batch_is_judged_as_if_its_turns_came_one_by_one(eager: Gate) -> None:
    turns = [
        (said("e1", ts=1), axis(0)),
        (said("e2", TEA, ts=2), axis(0)),
        (said("e3", TRIP, ts=3), at(0.5)),
        (said("e4", TEA, ts=4, user="bob"), axis(0)),
    ]
    await eager.store_turns(*turns)
    await eager.gate(*(event for event, _ in turns))
    together = await eager.everything()
    await eager.store.delete(ACME, COLLECTION, Where().present("tenant"))
    await eager.store_turns(*turns)
    for event, _ in turns:
        await eager.gate(event)
    assert await eager.everything() == together
    assert set(await eager.memories()) == {"e1", "e3", "e4"}


async def test_a_turn_announced_twice_is_one_turn(eager: Gate) -> None:
    event = said("e1")
    await eager.store_turns(event)
    await eager.gate(event, event)
    once = await eager.everything()
    await eager.gate(event)
    assert await eager.everything() == once
    assert (await eager.memories())["e1"].get("mentions") is None


async def test_a_decision_is_not_made_twice(gate: Gate) -> None:
    event = said("e1")
    first = await gate.gated(event)
    await gate.put(*(memory_record(said(f"m{n}", TRIP), at(0.9, n)) for n in (1, 2, 3)))
    await gate.gate(event)
    assert await gate.turn(event) == first
    assert (await gate.receipt(event))["promoted"] == "1"


async def test_a_turn_embedded_anew_gets_its_decision_back(eager: Gate) -> None:
    event, again = said("e1"), said("e2", ts=2_000)
    first, second = await eager.gated(event), await eager.gated(again)
    before = await eager.everything()
    await eager.put(turn_record(event), turn_record(again))
    assert "gating_score" not in await eager.turn(event)
    await eager.gate(event, again)
    assert (await eager.turn(event), await eager.turn(again)) == (first, second)
    assert await eager.everything() == before


async def test_a_turn_embedded_anew_is_not_judged_by_what_came_later(gate: Gate) -> None:
    event = said("e1")
    first = await gate.gated(event)
    await gate.put(turn_record(event), *(memory_record(said(f"m{n}", TRIP), at(0.9, n)) for n in (1, 2, 3)))
    await gate.gate(event)
    assert await gate.turn(event) == first


async def test_a_memory_mentioned_since_is_not_written_over(eager: Gate) -> None:
    event = said("e1")
    await eager.gated(event)
    await eager.gated(said("e2", ts=2_000))
    await eager.put(turn_record(event))
    await eager.gate(event)
    assert (await eager.memories())["e1"]["mentions"] == ["e2"]


async def test_a_merged_turn_stays_merged_even_if_a_second_look_would_refuse_it(gate: Gate) -> None:
    event = said("e1", "that is nice")
    await gate.put(memory_record(said("m", "that is nice"), mentions=["e1"]))
    turn = await gate.gated(event)
    assert turn["gating_score"] < 0.35
    assert turn["memory_id"] == memory_id(said("m"))
    assert (await gate.memories())["m"]["mentions"] == ["e1"]


@pytest.mark.parametrize("window", WINDOWS)
async def test_a_worker_that_dies_leaves_what_the_next_one_completes(
    eager: Gate, monkeypatch: pytest.MonkeyPatch, window: str
) -> None:
    """Its messages come again one by one; the store must end as if nothing had happened."""
    events = [said("e1", ts=1), said("e2", ts=2), said("e3", "that is nice", ts=3), said("e4", TRIP, ts=4)]
    vectors = [axis(0), axis(0), at(0.9), axis(5)]
    turns = list(zip(events, vectors, strict=True))
    await eager.store_turns(*turns)
    await eager.gate(*events)
    undisturbed = await eager.everything()
    assert {event_id: memory.get("mentions") for event_id, memory in (await eager.memories()).items()} == {
        "e1": ["e2"],
        "e4": None,
    }
    await eager.store.delete(ACME, COLLECTION, Where().present("tenant"))
    await eager.put(*(turn_record(event, vector) for event, vector in turns))

    with monkeypatch.context() as dying:
        dying.setattr(worker, "crash_point", partial(die_at, window))
        with pytest.raises(Crash):
            await eager.gate(*events)
    for event in events:
        await eager.gate(event)
    assert await eager.everything() == undisturbed
