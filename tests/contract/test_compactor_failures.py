"""What compaction leaves behind when a write fails or a rival is quicker: every turn, and work for the next run."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from lithify.compactor.session import SessionStates
from lithify.embedding import HashEmbedder, Vectors
from lithify.errors import LithifyError, Unavailable
from lithify.memory.compaction.commit_steps import AdvanceState, SessionState, StaleGeneration
from lithify.memory.compaction.draft import IsCancelled, WrittenText, never
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION
from lithify.summarising import Cancelled
from tests.compaction_parts import KEY, RULE, Bench, Watched, chat, say, writes_summary

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


class Failing(Watched):
    """Fails the first calls that a test finds worth failing."""

    def __init__(self, store: VectorStore, method: str, kind: str | None, error: Exception, times: int = 1) -> None:
        super().__init__(store, self._fail)
        self._method, self._kind, self._errors = method, kind, [error] * times

    async def _fail(self, name: str, args: Sequence[Any]) -> None:
        wanted = name == self._method and (
            self._kind is None or any(record.payload["kind"] == self._kind for record in args[2])
        )
        if wanted and self._errors:
            raise self._errors.pop()


def watched(store: Watched) -> VectorStore:
    return cast("VectorStore", store)


def events_with_rule(turns: int) -> list[Any]:
    events = chat(turns)
    events[2] = say(2, RULE)
    return events


WRITES = [("upsert", "guidance"), ("upsert", "summary"), ("set_payload", None)]


@pytest.mark.parametrize(("method", "kind"), WRITES, ids=["shards", "summary", "retire"])
async def test_write_that_is_refused_during_an_outage_is_made_up_for_by_the_next_attempt(
    bench: Bench, method: str, kind: str | None
) -> None:
    """spec 05.10: nothing is lost, and nothing is there twice"""
    await bench.tell(events_with_rule(14))
    failing = Failing(bench.store, method, kind, Unavailable("away"))
    with pytest.raises(Unavailable):
        await bench.run(store=watched(failing))
    assert len(await bench.active_turns()) == 14
    assert bool(await bench.records("summary")) == (method == "set_payload")
    assert (await bench.run())["turns_removed"] == 10
    assert await bench.covered() == [f"s1-{number:03}" for number in range(10)]
    assert [shard.text for shard in await bench.memories("guidance")] == [RULE]


async def test_summary_that_cannot_be_written_leaves_the_state_as_it_was(bench: Bench) -> None:
    """spec 05.10"""
    await bench.tell(chat(14))
    failing = Failing(bench.store, "upsert", "summary", LithifyError("refused"))
    result = await bench.run(store=watched(failing))
    assert (result["did_compact"], result["errors"]) == (False, ["LithifyError"])
    assert len(await bench.active_turns()) == 14
    assert (await bench.parts().states.read(KEY)).state == SessionState()


async def test_failure_in_one_cluster_does_not_block_the_others(bench: Bench) -> None:
    """spec 05.16 (X27)"""
    await bench.tell(chat(34))
    failing = Failing(bench.store, "upsert", "summary", LithifyError("once"))
    result = await bench.run(store=watched(failing))
    assert (result["clusters_formed"], result["clusters_declined"], result["turns_removed"]) == (3, 1, 20)
    assert await bench.covered() == [f"s1-{number:03}" for number in range(10, 30)]
    assert (await bench.run())["turns_removed"] == 10


class Choosy(HashEmbedder):
    """Cannot embed some texts."""

    def __init__(self, refuses: Callable[[str], bool]) -> None:
        super().__init__(32, (8, 16, 32))
        self._refuses = refuses

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if any(map(self._refuses, texts)):
            raise RuntimeError("the runtime failed")
        return super().embed_documents(texts)


async def test_model_that_is_away_is_waited_for_and_nothing_is_changed(bench: Bench) -> None:
    """spec 05 §1"""
    await bench.tell(chat(14))
    before = await bench.everything()
    with pytest.raises(Unavailable, match="summariser is not ready"):
        await bench.run(embedder=Choosy(lambda _: True))
    assert await bench.everything() == before


async def test_turn_that_cannot_be_embedded_costs_its_own_cluster_only(bench: Bench) -> None:
    """spec 05.16 (X27)"""
    await bench.tell(chat(24))
    [bare] = await bench.records("turn", (), event_id="s1-003")
    await bench.store.upsert(KEY.scope, COLLECTION, [bare])
    result = await bench.run(embedder=Choosy(lambda text: "room3 " in text))
    assert (result["clusters_declined"], result["turns_removed"], result["errors"]) == (1, 10, ["RuntimeError"])
    assert await bench.covered() == [f"s1-{number:03}" for number in range(10, 20)]
    assert (await bench.run())["turns_removed"] == 10


async def rival_moves(states: SessionStates, generation: int) -> None:
    await states.advance(KEY, AdvanceState(generation, SessionState(generation + 1, 1.0, "summary:rival")))


async def test_run_that_lost_the_race_for_the_generation_retires_nothing(bench: Bench) -> None:
    """spec 05.10: version conflict"""
    await bench.tell(chat(34))
    states = bench.parts().states

    async def rival(name: str, args: Sequence[Any]) -> None:
        if writes_summary(name, args):
            await rival_moves(states, 0)

    with pytest.raises(StaleGeneration):
        await bench.run(store=watched(Watched(bench.store, rival)))
    assert len(await bench.active_turns()) == 34
    assert (await bench.run())["turns_removed"] == 30
    covered = await bench.covered()
    assert len(covered) == len(set(covered)) == 30


async def test_run_that_woke_after_its_turns_were_compacted_writes_no_summary(bench: Bench) -> None:
    """A paused process must not leave a second summary of what another one has compacted meanwhile."""
    await bench.tell(chat(14))
    slept = False

    async def sleep(name: str, args: Sequence[Any]) -> None:
        nonlocal slept
        if name == "count" and not slept:
            slept = True
            await bench.tell(chat(6, start=14))
            await bench.run()

    with pytest.raises(StaleGeneration):
        await bench.run(store=watched(Watched(bench.store, sleep)))
    covered = await bench.covered()
    assert len(covered) == len(set(covered)) == 16


@pytest.mark.parametrize(("method", "kind"), WRITES, ids=["shards", "summary", "retire"])
async def test_cancelled_job_ends_at_its_write_and_the_next_run_continues(
    bench: Bench, method: str, kind: str | None
) -> None:
    await bench.tell(events_with_rule(34))
    begun = asyncio.Event()
    written: list[str] = []

    async def hold(name: str, args: Sequence[Any]) -> None:
        if name == method and (kind is None or any(record.payload["kind"] == kind for record in args[2])):
            begun.set()
            await asyncio.Event().wait()
        if name in ("upsert", "set_payload"):
            written.append(name)

    job = asyncio.create_task(bench.run(store=watched(Watched(bench.store, hold))))
    await begun.wait()
    before = list(written)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert written == before
    assert len(await bench.active_turns()) == 34
    assert len(await bench.records("summary")) == (1 if method == "set_payload" else 0)
    assert (await bench.run())["turns_removed"] == 30
    covered = await bench.covered()
    assert len(covered) == len(set(covered)) == 30
    assert [shard.text for shard in await bench.memories("guidance")] == [RULE]


@dataclass
class EndlessWriter:
    """Writes until it is told to stop, as a slow decoder does."""

    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    method: str = "t5"
    ready: bool = True

    def fits(self, texts: Sequence[str]) -> bool:  # noqa: ARG002 - the protocol's
        return True

    def write(self, texts: Sequence[str], max_tokens: int, is_cancelled: IsCancelled = never) -> WrittenText:  # noqa: ARG002 - the protocol's
        self.begun.set()
        while not is_cancelled():
            time.sleep(0.001)
        self.ended.set()
        raise Cancelled


async def test_cancelled_job_ends_the_decoding_it_waits_for(bench: Bench) -> None:
    """spec 05 §6"""
    await bench.tell(chat(14))
    for number in range(0, 10, 2):
        await bench.change(f"s1-{number:03}", gating_score=0.7)
    writer = EndlessWriter()
    job = asyncio.create_task(bench.run(abstractive=writer))
    assert await asyncio.to_thread(writer.begun.wait, 30)
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert await asyncio.to_thread(writer.ended.wait, 30)
    assert len(await bench.active_turns()) == 14
    assert (await bench.run())["turns_removed"] == 10


async def test_state_is_swapped_once_and_a_repeated_swap_is_told_so(bench: Bench) -> None:
    """A reply that was lost is asked for again by the client of Redis itself."""
    states = bench.parts().states
    step = AdvanceState(0, SessionState(1, 5.0, "summary:a"))
    await states.advance(KEY, step)
    await states.advance(KEY, step)
    assert (await states.read(KEY)).state == SessionState(1, 5.0, "summary:a")
    with pytest.raises(StaleGeneration, match="generation 0 when read and is at 1"):
        await states.advance(KEY, AdvanceState(0, SessionState(1, 6.0, "summary:b")))
    with pytest.raises(StaleGeneration):
        await states.check(KEY, 0)
