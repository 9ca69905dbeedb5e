"""The whole story: load under faults, then quiet, then the reckoning."""

import asyncio
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.chaos.driver import Load, drive
from tests.chaos.faults import schedule
from tests.chaos.injector import Injector, Strikes
from tests.chaos.ledger import Ledger
from tests.chaos.observation import backlog, observe
from tests.chaos.process import EXIT_UNAVAILABLE
from tests.chaos.program import Program
from tests.chaos.system import Shape, System, running_system
from tests.chaos.verdict import Finding, judge

# From the end of the load: the last outage is waited out (pauses double up to 16 s), a poison message fails five
# times a lease apart, and what a killed worker held is redone one by one.
DRAIN_S: Final = 90.0
POLL_S: Final = 0.1

EXPECTED_EXITS: Final = (0, -signal.SIGKILL, EXIT_UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    load: Load
    ledger: Ledger
    strikes: Strikes
    lost_replies: int
    restarts: int
    trimmed: int
    load_seconds: float
    drain_seconds: float
    findings: list[Finding]

    @property
    def broken(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.broken_by]


async def run_campaign(load: Load, folder: Path, qdrant_binary: Path) -> Outcome:
    ledger = Ledger()
    async with running_system(folder, qdrant_binary, Shape()) as system:
        injector = Injector(system, load.seed)
        load_seconds = await storm(load, system, injector, ledger)
        drain_seconds = await drain(system)
        seen = await observe(system)
    findings = [
        *judge(ledger, injector.strikes.poison, seen),
        Finding("the backlog drains in time", () if drain_seconds < DRAIN_S else (f"not in {DRAIN_S:.0f} s",)),
        Finding("no process fails", unexpected_ends(system.programs)),
        Finding("whoever is told to stop does", tuple(p.name for p in system.programs if p.hung)),
    ]
    return Outcome(
        load=load,
        ledger=ledger,
        strikes=injector.strikes,
        lost_replies=system.gateway_network.lost_replies + system.worker_network.lost_replies,
        restarts=sum(len(program.exits) - 1 for program in system.programs),
        trimmed=seen.trimmed,
        load_seconds=load_seconds,
        drain_seconds=drain_seconds,
        findings=findings,
    )


async def storm(load: Load, system: System, injector: Injector, ledger: Ledger) -> float:
    """Load and faults together; on return all turns are accepted, the faults are over and everything is up."""
    clock = asyncio.get_running_loop().time
    started = clock()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(drive(load, system.urls, ledger), name="load")
        tasks.create_task(injector.run(schedule(load.seed, load.seconds)), name="faults")
    await system.wait_ready()
    return clock() - started


async def drain(system: System) -> float:
    """Seconds until nothing was unread or unacknowledged; at most DRAIN_S."""
    clock = asyncio.get_running_loop().time
    started = clock()
    while (waited := clock() - started) < DRAIN_S:
        if await backlog(system.redis) == (0, 0):
            return waited
        await asyncio.sleep(POLL_S)
    return DRAIN_S


def unexpected_ends(programs: Iterable[Program]) -> tuple[str, ...]:
    """Ends that neither we asked for nor a dependency that was away at the start explains; the last is a drain."""
    ends = [(program.name, code) for program in programs for code in program.exits[:-1] if code not in EXPECTED_EXITS]
    ends += [(program.name, program.exits[-1]) for program in programs if program.exits[-1] != 0]
    return tuple(f"{name} ended with {code}" for name, code in ends)
