"""What an assembly recalls and what it must never show, on every engine."""

from dataclasses import replace

import pytest
from redis.asyncio import Redis

from lithify.assembly.prompt.recent_turns import RecentTurns
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.events.scope import DEFAULT_TENANT, SHARED
from lithify.store import VectorStore
from lithify.streams import keys
from lithify.streams.generations import bump, durable_subject
from tests.contract.assembly_parts import CALLER, NOW, SEEDED, TAIL_TURNS, Scene, open_scene, recalled

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

DURABLE = {"kind": "memory", "scope": "user", "session": None}


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis)


@pytest.fixture
def seeded(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis, profile=SEEDED)


async def test_other_sessions_of_the_user_are_recalled_but_no_other_user_and_no_other_tenant(scene: Scene) -> None:
    await scene.remember("my cat is Ludwig", "mine")
    await scene.remember("my cat is Mallory", "theirs", user="bob")
    await scene.remember("my cat is Trent", "foreign", tenant="other")
    answer = await scene.assemble("my cat")
    assert recalled(answer) == ["mine"]
    assert (await scene.assemble("my cat", TenantScope("third"))).text == ""


async def test_profile_seed_never_shows_another_sessions_turns(seeded: Scene) -> None:
    """spec 01.3"""
    for session in ("now", "old"):
        await seeded.remember("my cat is Ludwig", f"turn-{session}", session=session)
    assert recalled(await seeded.assemble("my cat is Ludwig")) == ["turn-now"]
    assert recalled(await seeded.assemble("my cat is Ludwig", session="old")) == ["turn-old"]
    assert recalled(await seeded.assemble("my cat is Ludwig", session="fresh")) == []


async def test_profile_seed_recalls_durable_shared_and_authored_memory_in_every_session(seeded: Scene) -> None:
    await seeded.remember("cat facts one", "durable", **DURABLE)
    await seeded.remember("cat facts two", "shared", kind="memory", scope="global", session=None, user=SHARED)
    await seeded.remember("cat facts three", "doc#000001", kind="authored", scope="global", session=None, user=SHARED)
    assert set(recalled(await seeded.assemble("cat facts"))) == {"durable", "shared", "doc#000001"}


async def test_the_durable_and_the_session_copy_of_a_turn_are_injected_once(scene: Scene) -> None:
    """spec 08.15, spec 01.9"""
    await scene.remember("my cat is Ludwig", "e1")
    await scene.remember("my cat is Ludwig", "e1", **DURABLE)
    answer = await scene.assemble("my cat")
    assert answer.text.count("Ludwig") == 1


async def test_a_tail_turn_that_was_promoted_is_not_recalled(scene: Scene) -> None:
    """spec 07.10, spec 07.11"""
    await scene.say("my cat is <Ludwig>", "e1")
    await scene.remember("my cat is <Ludwig>", "e1", session="now")
    await scene.remember("my cat is <Ludwig>", "e1", **DURABLE)
    answer = await scene.assemble("my cat")
    assert [block.name for block in answer.blocks] == ["recent_session_tail"]
    assert answer.text.count("my cat is &lt;Ludwig&gt;") == 1


async def test_turns_the_host_shows_itself_are_neither_recalled_nor_in_the_tail(scene: Scene) -> None:
    await scene.say("my cat is Ludwig", "e1")
    await scene.remember("my cat is Ludwig", "e1", session="now")
    shown = [{"role": "user", "content": "my cat is Ludwig", "id": "e1"}]
    assert (await scene.assemble("my cat", messages=shown)).text == ""


async def test_compacted_turns_are_recalled_where_the_profile_keeps_raw_history(scene: Scene, seeded: Scene) -> None:
    await scene.remember("cat melted", "melted", session="now", active=False)
    assert recalled(await scene.assemble("cat melted")) == ["melted"]
    assert recalled(await seeded.assemble("cat melted")) == []


async def test_rules_in_the_store_are_not_recalled(scene: Scene) -> None:
    await scene.remember("cat rule", "rule", kind="authored", scope="global", user=SHARED, authored_tier="hard")
    await scene.remember("cat note", "note", kind="authored", scope="global", user=SHARED, authored_tier="variant")
    assert recalled(await scene.assemble("cat")) == ["note"]


async def test_links_of_authored_notes_are_followed_by_their_record_ids(seeded: Scene) -> None:
    """spec 08.7"""
    note = {"kind": "authored", "scope": "global", "session": None, "user": SHARED, "authority": 1.0}
    await seeded.remember("harbour concert", "a.md#000001", hop_targets=("b.md#000002", "none#000001"), **note)
    await seeded.remember("nothing alike at all", "b.md#000002", hop_targets=("c.md#000003",), **note)
    await seeded.remember("entirely different words", "c.md#000003", **note)
    for n in range(2 * SEEDED.coarse_size):  # no search comes as far as the target
        await seeded.remember(f"harbour concert {n}", f"e{n}", **DURABLE, ts=0)
    found = recalled(await seeded.assemble("harbour concert"))
    assert "b.md#000002" in found
    assert "c.md#000003" not in found


async def test_guidance_stands_in_its_own_block(scene: Scene) -> None:
    await scene.remember("cat food: always buy the red tin", "g", kind="guidance", scope="user")
    answer = await scene.assemble("cat food")
    assert [block.name for block in answer.blocks] == ["elevated_guidance"]


async def test_searches_of_durable_and_shared_memory_are_spared_until_it_is_written(seeded: Scene) -> None:
    """spec 01.10"""
    await seeded.remember("my cat is Ludwig", "durable", **DURABLE)

    async def pools_searched() -> int:
        seeded.store.calls.clear()
        assert recalled(await seeded.assemble("my cat")) == ["durable"]
        return len(seeded.searches())

    assert await pools_searched() == 2
    assert await pools_searched() == 1
    assert await pools_searched() == 1
    await seeded.say("an assistant turn", "a1", role="assistant")
    assert await pools_searched() == 1
    await bump(seeded.redis, DEFAULT_TENANT, durable_subject("ada"))
    assert await pools_searched() == 2
    await bump(seeded.redis, DEFAULT_TENANT, durable_subject(SHARED))
    assert await pools_searched() == 2


async def test_accesses_grow_by_one_for_what_was_injected_only(scene: Scene) -> None:
    """spec 08.14"""
    scene.profile = replace(scene.profile, packing="prefix")
    injected = await scene.remember("cat", "short")
    cut = await scene.remember("cat " + "and much else " * 200, "long")
    await scene.say("cat in the tail", "t1")
    for _ in range(2):
        answer = await scene.assemble("cat", token_budget=300)
        assert recalled(answer) == ["short"]
    counts = await scene.redis.hgetall(keys.use_counts(DEFAULT_TENANT, "ada"))
    assert counts == {injected.encode(): b"2", b"highest": b"2"}
    assert cut.encode() not in counts


async def test_a_replay_is_byte_identical_and_leaves_no_mark(scene: Scene) -> None:
    """spec 01.1, spec 08.12"""
    for n in range(12):
        await scene.remember(f"cat number {n} of the house", f"e{n}", ts=NOW - n * 10_000)
    await scene.assemble("cat house")
    first, second = [await scene.assemble("cat house", now=NOW + 5) for _ in range(2)]
    assert first.text == second.text
    assert first.model_dump(exclude={"trace_id"}) == second.model_dump(exclude={"trace_id"})
    await scene.service.traces.flush()
    raw = [await scene.redis.get(keys.trace(DEFAULT_TENANT, answer.trace_id)) for answer in (first, second)]
    assert raw[0] == raw[1] is not None


async def test_the_newest_stored_turns_of_a_long_session_are_found_whatever_their_numbers(scene: Scene) -> None:
    recent = RecentTurns(scene.redis, scene.vectors, 2, 8)
    for n in range(600):
        await scene.remember(f"turn {n}", f"e{n}", session="long", seq=n * 1000 + 7)
    turns = await recent.read_stored(TenantScope(DEFAULT_TENANT, "ada", shared=True), "long")
    assert [turn.id for turn in turns] == [f"e{n}" for n in range(592, 600)]


async def test_a_lost_tail_is_read_from_the_store(scene: Scene) -> None:
    for n in range(6):
        await scene.remember(f"said {n}", f"e{n}", session="now", seq=n + 1, ts=NOW - 100 + n)
    answer = await scene.assemble("x")
    assert [entry.text for entry in answer.blocks[0].entries] == [f"said {n}" for n in range(6)]
    assert answer.degraded == []


async def test_what_is_said_after_a_loss_stands_behind_what_was_stored_though_positions_begin_anew(
    scene: Scene,
) -> None:
    for n in range(70):
        await scene.remember(f"said {n}", f"e{n}", session="now", seq=n + 1, ts=NOW - 100 + n)
    await scene.say("said last", "e99")
    tail = (await scene.assemble("x")).blocks[0].entries
    assert [entry.text for entry in tail][-4:] == ["said 67", "said 68", "said 69", "said last"]


async def test_a_tail_full_of_tool_output_is_filled_from_the_store(scene: Scene) -> None:
    for n in range(4):
        await scene.remember(f"said {n}", f"e{n}", session="now", seq=n + 1, ts=NOW - 100 + n)
    for n in range(TAIL_TURNS + 1):
        await scene.say(f"row {n}", f"r{n}", role="tool")
    answer = await scene.assemble("x")
    tail = [entry.text for entry in answer.blocks[0].entries]
    assert tail[:4] == [f"said {n}" for n in range(4)]
    assert len(tail) == 8


@pytest.mark.parametrize("failure", [Unavailable("away"), None], ids=["away", "slow"])
async def test_a_short_tail_says_if_the_store_had_no_answer(scene: Scene, failure: Unavailable | None) -> None:
    await scene.say("said last", "e99")
    scene.store.failure = failure
    scene.store.hangs = failure is None
    answer = await scene.assemble("x", deadline_ms=200)
    assert [entry.text for entry in answer.blocks[0].entries] == ["said last"]
    assert any("earlier turns of this session" in reason for reason in answer.degraded)
    scene.store.hangs = False


async def test_a_tail_that_holds_enough_asks_nobody_else(scene: Scene) -> None:
    for n in range(4):
        await scene.say(f"said {n}", f"e{n}")
    scene.store.calls.clear()
    await scene.assemble("")
    scrolled = [args for name, args in scene.store.calls if name in ("scroll", "count")]
    assert not [args for args in scrolled if "field='session'" in repr(args)]


async def test_no_user_and_no_tenant_shares_a_tail(scene: Scene) -> None:
    await scene.say("secret of ada", "e1")
    assert "secret" in (await scene.assemble("x")).text
    assert (await scene.assemble("x", user="bob")).text == ""
    assert (await scene.assemble("x", TenantScope("other"))).text == ""
    assert CALLER.tenant == DEFAULT_TENANT


async def test_a_summary_of_what_the_host_shows_is_not_recalled(scene: Scene) -> None:
    await scene.remember("the cat and the harbour", "sum", kind="summary", source_ids=("a", "b"), event_id=None)
    shown = [{"role": "user", "content": "x", "id": key} for key in ("a", "b")]
    assert "harbour" in (await scene.assemble(messages=shown[:1])).text
    assert (await scene.assemble(messages=shown)).text == ""
