"""Which faults there are, and when each of them strikes: decided by the seed alone."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from random import Random
from types import MappingProxyType
from typing import Final


class Kind(StrEnum):
    WORKER_KILLED = "embedding worker killed (kill -9)"
    WORKER_PAUSED = "embedding worker paused past its lease (SIGSTOP)"
    WORKER_STOPPED = "embedding worker told to stop (SIGTERM)"
    ARCHIVER_KILLED = "archive worker killed (kill -9)"
    FORGETTER_KILLED = "archive worker killed in the middle of a forgetting"
    GATER_KILLED = "gating worker killed (kill -9)"
    COMPACTOR_KILLED = "compaction killed in the middle of a job (kill -9)"
    ASSEMBLY_KILLED = "assembly killed (kill -9)"
    GATEWAY_KILLED = "gateway killed (kill -9)"
    REDIS_KILLED = "Redis killed (kill -9)"
    REDIS_RESTARTED = "Redis restarted (SIGTERM)"
    QDRANT_KILLED = "Qdrant killed (kill -9)"
    GATEWAY_REPLY_LOST = "Redis's reply to a gateway lost"
    WORKER_REPLY_LOST = "Redis's reply to a worker lost"
    CONNECTIONS_CUT = "all connections to Redis cut"
    POISON_PLANTED = "poison message planted"


# Per minute. A worker needs seconds to come back, so more kills would leave nobody to do the work.
RATES: Final = MappingProxyType(
    {
        Kind.WORKER_KILLED: 3.0,
        Kind.WORKER_PAUSED: 2.0,
        Kind.WORKER_STOPPED: 1.0,
        Kind.ARCHIVER_KILLED: 0.7,
        Kind.FORGETTER_KILLED: 0.7,
        Kind.GATER_KILLED: 1.0,
        Kind.COMPACTOR_KILLED: 1.0,
        Kind.ASSEMBLY_KILLED: 0.7,
        Kind.GATEWAY_KILLED: 1.0,
        Kind.REDIS_KILLED: 2.0,
        Kind.REDIS_RESTARTED: 0.5,
        Kind.QDRANT_KILLED: 1.5,
        Kind.GATEWAY_REPLY_LOST: 6.0,
        Kind.WORKER_REPLY_LOST: 3.0,
        Kind.CONNECTIONS_CUT: 3.0,
        Kind.POISON_PLANTED: 20.0,
    }
)
# No fault in the first moments, when there is nothing to hit, and none at the end, when nothing would follow.
FIRST, LAST = 0.05, 0.92


@dataclass(frozen=True, slots=True)
class Fault:
    """`choice` picks the target among those there are; `severity` in 0..1 says how long it lasts."""

    at_s: float
    kind: Kind
    choice: int
    severity: float


def schedule(seed: int, seconds: float) -> list[Fault]:
    """Every kind strikes at least once, at times that have nothing to do with one another."""
    random = Random(f"{seed}/faults")  # noqa: S311 - repeatable on purpose
    faults = [
        Fault(seconds * random.uniform(FIRST, LAST), kind, random.randrange(2**16), random.random())
        for kind, rate in RATES.items()
        for _ in range(ceil(rate * seconds / 60))
    ]
    return sorted(faults, key=lambda fault: fault.at_s)
