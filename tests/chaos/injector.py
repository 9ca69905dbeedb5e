"""Strikes the system with the scheduled faults and writes down what each one hit."""

import asyncio
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import MappingProxyType
from typing import Any, Final, cast

from lithify.forgetting import QUEUE as FORGETTING
from lithify.streams import keys
from lithify.streams.progress import StreamId
from tests.chaos.faults import Fault, Kind
from tests.chaos.plan import Load
from tests.chaos.poison import Poison, brew
from tests.chaos.program import Program
from tests.chaos.system import PARTITIONS, Message, System

# How long to look for the moment in which a worker holds messages.
CATCH_S: Final = 5.0
CATCH_POLL_S: Final = 0.02
# How long to look for a forgetting under way; some are asked for every minute.
FORGETTING_S: Final = 15.0
# The others may be waiting out an outage themselves.
TAKEOVER_S: Final = 20.0
# Longer than the gateway's own retries, so that callers notice.
DOWN_S: Final = (1.5, 3.5)
# In leases: the others must have time to take over before the sleeper wakes.
PAUSE_LEASES: Final = (1.8, 3.0)
# One step of every kind a worker takes: reading, marking and claiming (scripts), acknowledging.
WORKER_COMMANDS: Final = (b"XREADGROUP", b"EVALSHA", b"XACK")


@dataclass(slots=True)
class Strikes:
    """Times each kind struck, messages in a worker's hands when it was hit, and those others took over meanwhile."""

    times: Counter[Kind] = field(default_factory=Counter)
    in_flight: Counter[Kind] = field(default_factory=Counter)
    taken_over: int = 0
    poison: dict[str, Poison] = field(default_factory=dict)  # by mark


class Injector:
    def __init__(self, system: System, load: Load) -> None:
        self.strikes = Strikes()
        self._system = system
        self._load = load
        self._random = Random(f"{load.seed}/poison")  # noqa: S311 - repeatable on purpose
        self._locks = {program.name: asyncio.Lock() for program in system.programs}
        self._strike = MappingProxyType(
            {
                Kind.WORKER_KILLED: self._kill_worker,
                Kind.WORKER_PAUSED: self._pause_worker,
                Kind.WORKER_STOPPED: self._stop_worker,
                Kind.ARCHIVER_KILLED: self._kill_archiver,
                Kind.FORGETTER_KILLED: self._kill_forgetter,
                Kind.GATER_KILLED: self._kill_gater,
                Kind.COMPACTOR_KILLED: self._kill_compactor,
                Kind.ASSEMBLY_KILLED: self._kill_assembly,
                Kind.GATEWAY_KILLED: self._kill_gateway,
                Kind.REDIS_KILLED: self._kill_redis,
                Kind.REDIS_RESTARTED: self._restart_redis,
                Kind.QDRANT_KILLED: self._kill_qdrant,
                Kind.GATEWAY_REPLY_LOST: self._lose_gateway_reply,
                Kind.WORKER_REPLY_LOST: self._lose_worker_reply,
                Kind.CONNECTIONS_CUT: self._cut_connections,
                Kind.POISON_PLANTED: self._plant_poison,
            }
        )

    async def run(self, faults: Iterable[Fault]) -> None:
        """Faults of different targets overlap as they come; on return all of them are over."""
        async with asyncio.TaskGroup() as tasks:
            for fault in faults:
                tasks.create_task(self._inject(fault), name=fault.kind)
        self._system.gateway_network.heal()
        self._system.worker_network.heal()

    async def _inject(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at_s)
        await self._strike[fault.kind](fault)
        self.strikes.times[fault.kind] += 1

    def _choose(self, programs: Sequence[Program], fault: Fault) -> Program:
        """One that is up and not being hit, if there is any: queueing for one target would spread out the faults."""
        start = fault.choice % len(programs)
        rotated = [*programs[start:], *programs[:start]]
        free = (p for p in rotated if p.ready.is_set() and not self._locks[p.name].locked())
        return next(free, rotated[0])

    async def _kill_worker(self, fault: Fault) -> None:
        await self._kill(self._choose(self._system.workers, fault), fault)

    async def _kill_archiver(self, fault: Fault) -> None:
        await self._kill(self._choose(self._system.archivers, fault), fault)

    async def _kill_gater(self, fault: Fault) -> None:
        await self._kill(self._choose(self._system.gaters, fault), fault)

    async def _kill_compactor(self, fault: Fault) -> None:
        await self._kill(self._choose(self._system.compactors, fault), fault)

    async def _kill_forgetter(self, fault: Fault) -> None:
        """Strikes while a forgetting runs, somewhere in it; whoever archives also forgets."""
        worker = self._choose(self._system.archivers, fault)
        async with self._locks[worker.name]:
            await worker.wait_ready()
            clock = asyncio.get_running_loop().time
            deadline = clock() + FORGETTING_S
            while not (running := await self._system.running_jobs(FORGETTING)):
                if clock() > deadline:
                    break
                await asyncio.sleep(CATCH_POLL_S)
            self.strikes.in_flight[fault.kind] += len(running or ())
            await asyncio.sleep(fault.severity)
            await worker.end(signal.SIGKILL)

    async def _kill(self, worker: Program, fault: Fault) -> None:
        async with self._locks[worker.name]:
            self.strikes.in_flight[fault.kind] += len(await self._catch(worker))
            await worker.end(signal.SIGKILL)

    async def _pause_worker(self, fault: Fault) -> None:
        worker = self._choose(self._system.workers, fault)
        async with self._locks[worker.name]:
            held = await self._catch(worker)
            self.strikes.in_flight[fault.kind] += len(held)
            await asyncio.sleep(between(PAUSE_LEASES, fault) * self._system.shape.lease_ms / 1000)
            self.strikes.taken_over += await self._await_takeover(worker, held)
            worker.send(signal.SIGCONT)

    async def _stop_worker(self, fault: Fault) -> None:
        worker = self._choose(self._system.workers, fault)
        async with self._locks[worker.name]:
            self.strikes.in_flight[fault.kind] += len(await self._catch(worker))
            worker.send(signal.SIGCONT)
            await worker.end(signal.SIGTERM)

    async def _catch(self, worker: Program) -> set[Message]:
        """Freeze a worker in a moment when it holds messages, so that the strike means something; returns them."""
        await worker.wait_ready()
        clock = asyncio.get_running_loop().time
        deadline = clock() + CATCH_S
        while True:
            worker.send(signal.SIGSTOP)
            held = await self._system.held_by(worker)
            if held is None or held or clock() > deadline:
                return held or set()
            worker.send(signal.SIGCONT)
            await asyncio.sleep(CATCH_POLL_S)

    async def _await_takeover(self, sleeper: Program, held: set[Message]) -> int:
        """How many of its messages went to others; waits for the first, or the sleeper would wake for nothing."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + TAKEOVER_S
        while held and clock() < deadline:
            left = await self._system.held_by(sleeper)
            if left is not None and held - left:
                return len(held - left)
            await asyncio.sleep(CATCH_POLL_S)
        return 0

    async def _kill_gateway(self, fault: Fault) -> None:
        await self._kill_service(self._choose(self._system.gateways, fault))

    async def _kill_assembly(self, fault: Fault) -> None:
        await self._kill_service(self._choose(self._system.assemblies, fault))

    async def _kill_service(self, service: Program) -> None:
        async with self._locks[service.name]:
            await service.wait_ready()
            await service.end(signal.SIGKILL)

    async def _kill_redis(self, fault: Fault) -> None:
        server = self._system.server
        async with self._system.redis_lock:
            server.process.kill()
            await server.process.wait()
            await asyncio.sleep(between(DOWN_S, fault))
            await server.start()

    async def _restart_redis(self, fault: Fault) -> None:
        server = self._system.server
        async with self._system.redis_lock:
            await server.stop()
            await asyncio.sleep(between(DOWN_S, fault))
            await server.start()

    async def _kill_qdrant(self, fault: Fault) -> None:
        qdrant = self._system.qdrant
        async with self._system.qdrant_lock:
            await asyncio.to_thread(qdrant.kill)
            await asyncio.sleep(between(DOWN_S, fault))
            await asyncio.to_thread(qdrant.start)

    async def _lose_gateway_reply(self, _fault: Fault) -> None:
        self._system.gateway_network.lose_reply_to(b"EVALSHA")

    async def _lose_worker_reply(self, fault: Fault) -> None:
        self._system.worker_network.lose_reply_to(WORKER_COMMANDS[fault.choice % len(WORKER_COMMANDS)])

    async def _cut_connections(self, _fault: Fault) -> None:
        self._system.gateway_network.cut()
        self._system.worker_network.cut()

    async def _plant_poison(self, _fault: Fault) -> None:
        # Redis is up while the lock is held: each is planted exactly once.
        async with self._system.redis_lock:
            mark = str(len(self.strikes.poison))
            poison = brew(self._random, mark, self._load.sessions)
            fields = dict[Any, Any](poison.fields)
            stream = self._random.choice(keys.turn_streams(PARTITIONS))
            planted = await self._system.redis.xadd(stream, fields)
            self.strikes.poison[mark] = replace(poison, stream_id=StreamId.parse(cast("bytes", planted)))


def between(bounds: tuple[float, float], fault: Fault) -> float:
    low, high = bounds
    return low + (high - low) * fault.severity
