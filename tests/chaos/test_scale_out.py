"""More embedding workers do more work: the cost per batch is a fixed pause, so that the cores do not decide."""

import asyncio
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from lithify.events import Event, system_clock
from lithify.events.scope import DEFAULT_TENANT
from lithify.streams import Producer, keys
from tests.chaos.campaign import drain
from tests.chaos.ledger import Ledger, Turn
from tests.chaos.observation import Observation
from tests.chaos.system import PARTITIONS, Shape, System, running_system
from tests.chaos.verdict import judge
from tests.chaos.view import observe

BATCH: Final = 8
BATCHES: Final = 56
TURNS: Final = BATCH * BATCHES
# Ten times what the rest of a batch costs on two busy cores.
BATCH_SECONDS: Final = 0.5
JOIN_S: Final = 30.0

pytestmark = pytest.mark.chaos


def balanced_turns(prefix: str, number: int) -> list[Turn]:
    """Equally many for each partition, so that every batch is full."""
    sessions: dict[int, str] = {}
    for candidate in (f"s{n}" for n in count()):
        sessions.setdefault(keys.partition_of(DEFAULT_TENANT, candidate, PARTITIONS), candidate)
        if len(sessions) == PARTITIONS:
            break
    return [
        Turn(DEFAULT_TENANT, f"{prefix}{n}", "u", sessions[n % PARTITIONS], "user", f"fact number {n}")
        for n in range(number)
    ]


async def process(system: System, ledger: Ledger, turns: list[Turn]) -> None:
    """All accepted in one step of Redis while every worker waits, so that none starts before the others."""
    await until_all_wait_for_work(system)
    events = [(event_of(turn), turn.event_id) for turn in turns]
    results = await Producer(system.redis, PARTITIONS, system_clock).accept(events)
    ledger.answer(turns, map(asdict, results))
    await drain(system)


def event_of(turn: Turn) -> Event:
    return Event(turn.event_id, turn.tenant, turn.user, turn.session, turn.role, turn.text, ts=1)


async def until_all_wait_for_work(system: System) -> None:
    async with asyncio.timeout(JOIN_S):
        while (await system.redis.info("clients"))["blocked_clients"] < len(system.workers):  # noqa: ASYNC110 - others
            await asyncio.sleep(0.05)


def throughput(seen: Observation, turns: list[Turn]) -> float:
    """Turns a second, from the receipts: from the first acceptance to the last embedding."""
    receipts = [seen.receipts[turn.name] for turn in turns]
    first = min(int(receipt["accepted_at"]) for receipt in receipts)
    last = max(int(receipt["embedded_at"]) for receipt in receipts)
    return len(turns) / (last - first) * 1000


async def measure(workers: int, folder: Path, qdrant_binary: Path) -> float:
    shape = Shape(
        gateways=0,
        workers=workers,
        archivers=0,
        gaters=0,
        compactors=0,
        assemblies=0,
        lease_ms=60_000,
        batch_turns=BATCH,
        slots=1,
        batch_seconds=BATCH_SECONDS,
    )
    ledger, turns = Ledger(), balanced_turns("e", TURNS)
    async with running_system(folder, qdrant_binary, shape) as system:
        # The first batch of a process also loads code and opens connections.
        await process(system, ledger, balanced_turns("warm-up ", BATCH * workers))
        await process(system, ledger, turns)
        seen = await observe(system)
    assert [finding for finding in judge(ledger, {}, seen) if finding.broken_by] == []
    return throughput(seen, turns)


async def test_two_workers_do_almost_twice_and_four_almost_four_times_the_work(
    tmp_path: Path, qdrant_binary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = {number: await measure(number, tmp_path / str(number), qdrant_binary) for number in (1, 2, 4)}
    with capsys.disabled():
        print(f"\n{TURNS} turns, batches of {BATCH} at {BATCH_SECONDS * 1000:.0f} ms")
        for number, rate in rates.items():
            print(f"{number} embedding worker(s): {rate:6.1f} turns/s, {rate / rates[1]:.2f} times one worker")
    assert rates[2] / rates[1] >= 1.9
    assert rates[4] / rates[1] >= 3.6
