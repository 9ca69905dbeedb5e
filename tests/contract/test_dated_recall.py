"""Dated memories that no search by topic brings up, on every engine (spec 09 §5)."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from lithify.assembly.recall.dated import LATE_DATES
from lithify.errors import Unavailable
from lithify.memory.temporal.anchors import anchor_density
from lithify.store import VectorStore
from lithify.store.where import Between
from tests.contract.assembly_parts import CALLER, NOW, RECALLING, SEEDED, Scene, Watched, open_scene

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

QUESTION = "how many days passed between mailing the passport and getting the visa"


class Dateless(Watched):
    """A store that cannot search for dates, or not in time."""

    is_slow = False

    def __getattr__(self, name: str) -> Any:
        call = super().__getattr__(name)

        async def refuse_dates(*args: Any, **kwargs: Any) -> Any:
            queries = args[2] if name == "query_batch" else ()
            if any(isinstance(condition, Between) for query in queries for condition in query.where.must):
                if self.is_slow:
                    await asyncio.Event().wait()
                raise Unavailable("pulled out")
            return await call(*args, **kwargs)

        return refuse_dates


@pytest.fixture(params=["seed", "recall"])
def scene(memories: VectorStore, redis: Redis, request: pytest.FixtureRequest) -> Scene:
    return open_scene(memories, redis, profile=SEEDED if request.param == "seed" else RECALLING)


async def fill(scene: Scene) -> None:
    """Many turns with all the words of the question, and two with few of them and a date."""
    for number in range(80):
        await scene.remember(f"{QUESTION} {number}", f"topic-{number}", session="now")
    for key, text in (("mailed", "passport and papers went on 9 April"), ("got", "visa came on 2024-05-20 at 8:15")):
        await scene.remember(text, key, session="now", anchors=anchor_density(text))


async def find(scene: Scene, query: str = QUESTION, **fields: Any) -> tuple[set[str], list[str]]:
    """What an assembly considered, and what it lacks."""
    answer = await scene.assemble(query, **fields)
    trace = await scene.service.traces.read(CALLER, answer.trace_id)
    return {row["event_id"] for row in trace["considered"]}, answer.degraded


async def test_dated_turns_are_found_among_all_memories(scene: Scene) -> None:
    await fill(scene)
    found, missing = await find(scene)
    assert {"mailed", "got"} <= found
    assert not any("dates" in reason for reason in missing)
    found, _ = await find(scene, "mailing the passport and getting the visa")
    assert found.isdisjoint({"mailed", "got"})


async def test_what_is_found_by_its_topic_stands_as_it_did(scene: Scene) -> None:
    await fill(scene)
    answer = await scene.assemble(QUESTION, now=NOW)
    trace = await scene.service.traces.read(CALLER, answer.trace_id)
    plain = replace(scene, profile=replace(scene.profile, recovery_size=0), _service=None)
    before = await plain.service.traces.read(CALLER, (await plain.assemble(QUESTION, now=NOW)).trace_id)
    scores = {row["id"]: row.get("score") for row in trace["considered"]}
    assert {row["id"]: row.get("score") for row in before["considered"]}.items() <= scores.items()


async def test_dated_turns_that_the_host_shows_are_left_out(scene: Scene) -> None:
    await fill(scene)
    found, _ = await find(scene, messages=[{"role": "user", "content": "as I said", "id": "mailed"}])
    assert "mailed" not in found
    assert "got" in found


async def test_a_date_below_the_recovery_floor_is_left(scene: Scene) -> None:
    await fill(scene)
    await scene.remember("qqq zzz 2021-01-01 and 2022-02-02", "far", session="now", anchors=2 / 3)
    found, _ = await find(replace(scene, profile=replace(scene.profile, recovery_floor=0.99), _service=None))
    assert found.isdisjoint({"mailed", "got", "far"})


@pytest.mark.parametrize(
    ("is_slow", "reason"), [(False, "memories with dates cannot be read: pulled out"), (True, LATE_DATES)]
)
async def test_an_answer_says_that_dates_are_missing(scene: Scene, is_slow: bool, reason: str) -> None:
    await fill(scene)
    store = Dateless(scene.vectors)
    store.is_slow = is_slow
    found, missing = await find(replace(scene, store=store, _service=None), deadline_ms=60_000)
    assert reason in missing
    assert found
    assert found.isdisjoint({"mailed", "got"})
