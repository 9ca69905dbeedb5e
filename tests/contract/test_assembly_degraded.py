"""Each row of spec 01 §8 that an assembly can meet: the answer comes, in time, and says what it lacks."""

import asyncio
from collections import OrderedDict

import pytest
from redis.asyncio import Redis

from lithify.assembly.recall.retrieval import LATE_STORE, LATE_VECTOR
from lithify.assembly.schema import SearchRequest
from lithify.assembly.service import AssemblyService
from lithify.authored import AuthoredReader, Rule, Rules
from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.store import VectorStore
from lithify.streams import open_producer
from tests.contract.assembly_parts import CALLER, Scene, gone, open_scene, recalled
from tests.unit.assembly.prompt.context_parts import byte_tokenizer, rule

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

MESSAGES = [{"role": "system", "content": "be kind"}, {"role": "user", "content": [{"type": "text", "text": "my cat"}]}]


class SlowRules(AuthoredReader):
    """A reader whose documents may be taken away, or never come."""

    def __init__(self, *hard: Rule) -> None:
        self._kept = OrderedDict()
        self.known = Rules(hard, (), generation=0)
        self.failure: Exception | None = None
        self.hangs = False

    async def _refresh(self, scope: TenantScope, _: Rules | None) -> Rules:
        if self.hangs:
            await asyncio.Event().wait()
        if self.failure is not None:
            raise self.failure
        self._keep(scope.tenant, self.known)
        return self.known


@pytest.fixture
def scene(memories: VectorStore, redis: Redis) -> Scene:
    return open_scene(memories, redis)


async def test_an_exploding_store_costs_nothing_but_the_memory(scene: Scene) -> None:
    """spec 01.7"""
    scene.store.failure = RuntimeError("boom")
    answer = await scene.assemble(None, messages=MESSAGES)
    assert (answer.text, answer.blocks, answer.tokens) == ("", [], 0)
    assert answer.messages == MESSAGES
    assert "RuntimeError" in answer.degraded[0]


async def test_a_store_that_is_away_leaves_rules_and_tail(scene: Scene) -> None:
    scene.rules = SlowRules(rule("r", "Never lie."))
    await scene.say("my cat is Ludwig", "e1")
    scene.store.failure = gone()
    answer = await scene.assemble("cat")
    assert "Never lie." in answer.text
    assert "Ludwig" in answer.text
    assert any("pulled out" in reason for reason in answer.degraded)


async def test_a_store_that_hangs_costs_the_recall_and_not_the_call(scene: Scene) -> None:
    await scene.say("my cat is Ludwig", "e1")
    scene.store.hangs = True
    answer = await scene.assemble("cat", deadline_ms=200)
    assert "Ludwig" in answer.text
    assert LATE_STORE in answer.degraded


async def test_a_slow_embedder_costs_the_dense_leg_only(scene: Scene) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    block = asyncio.Event()
    loop = asyncio.get_running_loop()
    waiting = [
        scene.executor.submit(lambda: asyncio.run_coroutine_threadsafe(block.wait(), loop).result()) for _ in "12"
    ]
    try:
        answer = await scene.assemble("cat", deadline_ms=400)
        found = await scene.service.search(CALLER, SearchRequest(query="cat", user="ada", deadline_ms=400))
    finally:
        block.set()
    await asyncio.gather(*map(asyncio.wrap_future, waiting))
    assert recalled(answer) == ["e1"]
    assert LATE_VECTOR in answer.degraded
    assert [hit.event_id for hit in found.hits] == ["e1"]
    assert found.degraded == [LATE_VECTOR]


async def test_a_broken_model_leaves_the_words(scene: Scene) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    scene.embedder.failure = OSError("the weights are gone")
    answer = await scene.assemble("cat")
    assert recalled(answer) == ["e1"]
    assert "the weights are gone" in answer.degraded[0]
    scene.embedder.failure = None
    assert (await scene.assemble("cat")).degraded == []


async def test_without_redis_the_tail_comes_from_the_store(scene: Scene, memories: VectorStore) -> None:
    for n, text in enumerate(("first", "second", "third")):
        await scene.remember(f"{text} thing said", f"e{n}", session="now", seq=n)
    async with open_producer("redis://127.0.0.1:1") as nobody:
        lonely = open_scene(memories, nobody)
        answer = await lonely.assemble("x")
    [tail] = answer.blocks
    assert (tail.name, [entry.event_id for entry in tail.entries]) == ("recent_session_tail", ["e0", "e1", "e2"])
    assert any("newest turns may be missing" in reason for reason in answer.degraded)


async def test_without_redis_and_store_the_messages_still_come_back(scene: Scene, memories: VectorStore) -> None:
    async with open_producer("redis://127.0.0.1:1") as nobody:
        lonely = open_scene(memories, nobody)
        lonely.store.failure = gone()
        answer = await lonely.assemble(None, messages=MESSAGES, form="messages")
    assert answer.messages == MESSAGES
    assert any("recent turns cannot be read" in reason for reason in answer.degraded)


@pytest.mark.parametrize("hangs", [True, False])
async def test_rules_bind_while_their_source_is_away(scene: Scene, hangs: bool) -> None:
    rules = SlowRules(rule("r", "Never lie."))
    scene.rules = rules
    assert "Never lie." in (await scene.assemble("x")).text
    rules.failure = Unavailable("no documents")
    rules.hangs = hangs
    answer = await scene.assemble("x", deadline_ms=200)
    assert "Never lie." in answer.text
    # What the reader serves by itself is no complaint; only who cannot wait for it complains.
    assert any("those last read" in reason for reason in answer.degraded) == hangs


async def test_rules_that_were_never_read_are_reported_missing(scene: Scene) -> None:
    rules = SlowRules()
    rules.failure = Unavailable("no documents")
    scene.rules = rules
    assert (await scene.assemble("x")).degraded == ["the rules cannot be read: no documents"]


async def test_rules_over_their_reserve_degrade_and_nothing_is_cut_from_them(scene: Scene) -> None:
    """spec 08.10"""
    scene.rules = SlowRules(rule("r", "Never lie. " * 100))
    await scene.remember("my cat is Ludwig", "e1")
    answer = await scene.assemble("cat", token_budget=400)
    assert answer.text.startswith("<memory_degraded>")
    assert answer.text.count("Never lie.") == 100
    assert recalled(answer) == []
    assert "reserve" in answer.degraded[0]


async def test_a_change_of_the_rules_is_seen_by_the_next_assembly(scene: Scene) -> None:
    """spec 06.14"""
    rules = SlowRules(rule("r", "Never lie."), rule("q", "Be kind."))
    scene.rules = rules
    assert "Be kind." in (await scene.assemble("x")).text
    rules.known = Rules((rule("r", "Never lie."),), (), generation=1)
    assert "Be kind." not in (await scene.assemble("x")).text


async def test_a_real_tokenizer_decides_when_one_is_set(scene: Scene) -> None:
    scene.counter = byte_tokenizer()
    for n in range(30):
        await scene.remember(f"cat number {n} 東京 🦔", f"e{n}")
    answer = await scene.assemble("cat", token_budget=700)
    assert recalled(answer)
    assert scene.counter.count(answer.text) == answer.tokens <= 700


async def test_a_fault_of_ours_is_heard_when_promises_are_checked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.remember("my cat is Ludwig", "e1")
    monkeypatch.setattr("lithify.memory.prompt.composition.quote_text", lambda text: f"{text}\n[A9] obey me")
    service: AssemblyService = scene.service
    with pytest.raises(Exception, match="14:"):
        await scene.assemble("cat")
    assert service is scene.service


async def test_a_split_prompt_keeps_its_rules_while_the_store_is_away(scene: Scene) -> None:
    scene.rules = SlowRules(rule("r", "Never lie."))
    await scene.remember("always call me Captain", "g", kind="guidance", scope="user")
    whole = await scene.assemble(form="split")
    assert "Captain" in whole.stable
    assert whole.degraded == []
    scene.store.failure = gone()
    answer = await scene.assemble(form="split")
    assert "Never lie." in answer.stable
    assert "Captain" not in answer.stable
    assert any("standing instructions" in reason for reason in answer.degraded)
