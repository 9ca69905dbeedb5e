"""Names the Redis keys of jobs: ours, which all expire, and RQ's own, which partly do not."""

from typing import Final

from lithify.streams import keys

PREFIX: Final = f"{keys.PREFIX}jobs:"

SCHEDULER: Final = f"{PREFIX}scheduler"
"""Is the lock of the one active scheduler."""

# RQ's lists and sets per queue stay; upkeep removes what has expired from them. A job's record stays until the job has
# ended and expires then.
PERMANENT: Final = (
    "rq:queues",
    "rq:workers",
    "rq:queue:",
    "rq:wip:",
    "rq:finished:",
    "rq:failed:",
    "rq:scheduled:",
    "rq:deferred:",
    "rq:job:",
)


def checkpoint(job_id: str) -> str:
    """Holds how far a job has come."""
    return f"{PREFIX}checkpoint:{job_id}"


def upkeep(queue: str) -> str:
    """Exists while a queue needs no upkeep."""
    return f"{PREFIX}upkeep:{queue}"


def last_period(schedule: str) -> str:
    """Holds the last period for which a periodic job was started."""
    return f"{PREFIX}period:{schedule}"


def is_permanent(key: str) -> bool:
    return key.startswith(PERMANENT)
