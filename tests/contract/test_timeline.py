"""A session's timeline on every engine: each turn once, with what became of it; nothing of anybody else."""

import pytest
from redis.asyncio import Redis

from lithify.assembly.library.timeline import Timelines
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.store import VectorStore
from tests.contract.assembly_parts import NOW, PARTITIONS, Scene, open_scene

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

ADA = TenantScope(DEFAULT_TENANT, "ada")


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis)


@pytest.fixture
def timelines(memories: VectorStore, redis: Redis) -> Timelines:
    return Timelines(memories, redis, PARTITIONS)


async def test_a_turn_is_shown_from_acceptance_on_and_once(scene: Scene, timelines: Timelines) -> None:
    await scene.say("first", "e1", session="s")
    await scene.say("second", "e2", session="s")
    await scene.remember("first", "e1", session="s", seq=1)
    told = await timelines.read(ADA, "s", 10)
    assert [(turn.event_id, turn.searchable, turn.in_tail) for turn in told.turns] == [
        ("e1", True, True),
        ("e2", False, True),
    ]


async def test_compacted_turns_their_summary_and_durable_memories_are_told(scene: Scene, timelines: Timelines) -> None:
    summary = await scene.remember("both", "sum", kind="summary", session="s", source_ids=("e1", "e2"), confidence=0.5)
    for place, key in enumerate(("e1", "e2"), start=1):
        await scene.remember(key, key, session="s", seq=place, active=False, compacted_into=summary)
    await scene.remember("third", "e3", session="s", seq=3)
    memory = await scene.remember("e1", "e1", kind="memory", scope="user", session="s", gating_score=0.7)
    told = await timelines.read(ADA, "s", 10)
    assert [(turn.event_id, turn.active, turn.compacted_into) for turn in told.turns] == [
        ("e1", False, summary),
        ("e2", False, summary),
        ("e3", True, None),
    ]
    assert [(one.id, one.covers, one.confidence) for one in told.summaries] == [(summary, ["e1", "e2"], 0.5)]
    assert [(one.id, one.gating_score) for one in told.memories] == [(memory, 0.7)]


async def test_the_limit_keeps_the_newest(scene: Scene, timelines: Timelines) -> None:
    for place in range(1, 8):
        await scene.remember(f"turn {place}", f"e{place}", session="s", seq=place)
    assert [turn.event_id for turn in (await timelines.read(ADA, "s", 3)).turns] == ["e5", "e6", "e7"]


async def test_nothing_of_another_user_or_tenant_is_seen(scene: Scene, timelines: Timelines) -> None:
    await scene.say("hers", "e1", session="s", user="eve")
    await scene.remember("hers", "e1", session="s", seq=1, user="eve")
    await scene.remember("theirs", "e2", session="s", seq=1, tenant="globex")
    told = await timelines.read(ADA, "s", 10)
    assert (told.turns, told.summaries, told.memories) == ([], [], [])
    assert (await timelines.list_sessions(ADA)).sessions == []


async def test_sessions_are_listed_with_their_span_the_latest_first(scene: Scene, timelines: Timelines) -> None:
    for key, session, ts in (("a", "old", NOW - 9), ("b", "old", NOW - 5), ("c", "new", NOW)):
        await scene.remember(key, key, session=session, ts=ts, seq=1)
    told = await timelines.list_sessions(ADA)
    assert [(one.session, one.turns, one.first_ts, one.last_ts) for one in told.sessions] == [
        ("new", 1, NOW, NOW),
        ("old", 2, NOW - 9, NOW - 5),
    ]
    assert told.complete
