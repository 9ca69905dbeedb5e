"""The whole story: load under faults, then quiet, then the reckoning."""

import asyncio
import signal
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.chaos.driver import drive
from tests.chaos.faults import schedule
from tests.chaos.forgetting import wishes
from tests.chaos.forgetting_host import ForgettingHost
from tests.chaos.injector import Injector, Strikes
from tests.chaos.ledger import Ledger
from tests.chaos.observation import Observation
from tests.chaos.plan import Load
from tests.chaos.process import EXIT_UNAVAILABLE
from tests.chaos.program import Program
from tests.chaos.reader import keep_asking
from tests.chaos.redis_view import count_jobs, read_backlog
from tests.chaos.system import Shape, System, running_system
from tests.chaos.verdict import judge
from tests.chaos.verdict_words import Breach, Finding
from tests.chaos.view import observe

# From the end of the load: the last outage is waited out (pauses double up to 16 s), a poison message fails five
# times a lease apart, what a killed worker held is redone one by one, and forgettings wait for all of that.
SHORTEST_DRAIN_S: Final = 300.0
POLL_S: Final = 0.2

EXPECTED_EXITS: Final = (0, -signal.SIGKILL, EXIT_UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    load: Load
    drain_limit: float
    ledger: Ledger
    strikes: Strikes
    lost_replies: int
    restarts: int
    trimmed: int
    load_seconds: float
    drain_seconds: float
    findings: list[Finding]
    kinds: Counter[str] = field(default_factory=Counter)
    """How many records of each kind the store had in the end; `put away` are turns behind a summary."""

    @property
    def broken(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.broken_by]

    def count(self, breach: Breach) -> int:
        return sum(len(finding.broken_by) for finding in self.findings if finding.breach is breach)


async def run_campaign(load: Load, folder: Path, qdrant_binary: Path) -> Outcome:
    ledger = Ledger()
    # What the machine cannot do meanwhile it does afterwards.
    limit = max(SHORTEST_DRAIN_S, load.seconds)
    async with running_system(folder, qdrant_binary, Shape()) as system:
        injector = Injector(system, load)
        load_seconds = await storm(load, system, injector, ledger)
        drain_seconds = await drain(system, limit)
        seen = await observe(system)
    late = () if drain_seconds < limit else (f"not in {limit:.0f} s",)
    findings = [
        *judge(ledger, injector.strikes.poison, seen),
        Finding(Breach.OTHER, "the backlog drains in time", late),
        Finding(Breach.OTHER, "no process fails", unexpected_ends(system.programs)),
        Finding(Breach.OTHER, "whoever is told to stop does", tuple(p.name for p in system.programs if p.hung)),
    ]
    return Outcome(
        load=load,
        drain_limit=limit,
        ledger=ledger,
        strikes=injector.strikes,
        lost_replies=system.gateway_network.lost_replies + system.worker_network.lost_replies,
        restarts=sum(len(program.exits) - 1 for program in system.programs),
        trimmed=seen.trimmed,
        load_seconds=load_seconds,
        drain_seconds=drain_seconds,
        findings=findings,
        kinds=count_kinds(seen),
    )


def count_kinds(seen: Observation) -> Counter[str]:
    kinds = Counter(record.kind for record in seen.records)
    kinds["put away"] = sum(not record.active for record in seen.records if record.kind == "turn")
    return kinds


async def storm(load: Load, system: System, injector: Injector, ledger: Ledger) -> float:
    """Runs load, forgettings, questions and faults together.

    On return all turns are accepted, every forgetting has its receipt or was waited for long enough, the faults are
    over and everything is up.
    """
    clock = asyncio.get_running_loop().time
    started = clock()
    api_keys = system.api_keys
    forgetting = ForgettingHost(ledger, system.assembly_urls, system.urls, api_keys)
    questions = keep_asking(ledger, system.assembly_urls, api_keys, load.seed, load.seconds)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(drive(load, system.urls, api_keys, ledger), name="load")
        patience_s = load.seconds + SHORTEST_DRAIN_S
        tasks.create_task(forgetting.run(wishes(load.seed, load.seconds), load.seed, patience_s), name="forgetting")
        tasks.create_task(questions, name="questions")
        tasks.create_task(injector.run(schedule(load.seed, load.seconds)), name="faults")
    await system.wait_ready()
    return clock() - started


async def drain(system: System, limit: float = SHORTEST_DRAIN_S) -> float:
    """Returns the seconds until nothing was unread, unacknowledged or queued; at most the limit."""
    clock = asyncio.get_running_loop().time
    started = clock()
    while (waited := clock() - started) < limit:
        # In this order: who reads the streams acknowledges once the jobs are queued.
        if await read_backlog(system.redis) == (0, 0) and await count_jobs(system.redis) == 0:
            return waited
        await asyncio.sleep(POLL_S)
    return limit


def unexpected_ends(programs: Iterable[Program]) -> tuple[str, ...]:
    """Returns ends that neither we asked for nor a dependency that was away at the start explains.

    The last one is a drain.
    """
    ends = [(program.name, code) for program in programs for code in program.exits[:-1] if code not in EXPECTED_EXITS]
    ends += [(program.name, program.exits[-1]) for program in programs if program.exits[-1] != 0]
    return tuple(f"{name} ended with {code}" for name, code in ends)
