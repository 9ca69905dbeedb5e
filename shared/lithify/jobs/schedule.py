"""When periodic jobs are due: pure arithmetic on a table of schedules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from typing import Final

from pydantic import JsonValue

from lithify.errors import Invalid
from lithify.jobs.enqueue import Policy

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Schedule:
    """One line of the table. Periods lie on a fixed grid, so that every process sees the same ones."""

    label: str
    queue: str
    job: str
    every_ms: int
    # Where in the grid a period starts, counted from midnight UTC.
    offset_ms: int = 0
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        if self.every_ms <= 0:
            raise Invalid(f"schedule {self.label} must have an interval above 0, not {self.every_ms} ms")


def daily(label: str, queue: str, job: str, at: time, args: Mapping[str, JsonValue] | None = None) -> Schedule:
    """Once a day at a time of UTC."""
    offset_ms = ((at.hour * 60 + at.minute) * 60 + at.second) * 1000
    return Schedule(label, queue, job, DAY_MS, offset_ms, args or {})


def due(schedule: Schedule, last_run_ms: int | None, now_ms: int) -> int | None:
    """The start of the period to run for, None if it had its run. However many were missed, only the present one runs.

    A last run slightly in the future was started by a process whose clock is ahead, and counts. One that is more than
    a period ahead tells of a clock that was wrong; waiting for it could take years, so it does not count.
    """
    period = now_ms - (now_ms - schedule.offset_ms) % schedule.every_ms
    if last_run_ms is None or last_run_ms < period or last_run_ms > now_ms + schedule.every_ms:
        return period
    return None
