"""Kills, freezes, outages, lost replies and poison under load: nothing lost, nothing invented, nothing twice."""

import os
from pathlib import Path
from random import SystemRandom
from typing import Final

import pytest

from tests.chaos.campaign import run_campaign
from tests.chaos.driver import Load
from tests.chaos.faults import Kind
from tests.chaos.report import print_report

TURNS: Final = 20_000
# The whole test, starting and reckoning included, must stay below five minutes on two cores.
SECONDS: Final = 90.0

pytestmark = pytest.mark.chaos


def chosen_seed() -> int:
    """LITHIFY_TEST_CHAOS_SEED repeats the load and the schedule of an earlier run."""
    return int(os.environ.get("LITHIFY_TEST_CHAOS_SEED") or SystemRandom().randrange(10**6))


async def test_every_accepted_event_has_its_effect_exactly_once_whatever_fails(
    tmp_path: Path, qdrant_binary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load = Load(chosen_seed(), TURNS, SECONDS)
    with capsys.disabled():
        print(f"\nchaos seed {load.seed}", flush=True)
        outcome = await run_campaign(load, tmp_path, qdrant_binary)
        print_report(outcome)

    assert outcome.broken == []
    assert len(outcome.ledger.accepted) == TURNS
    # What follows shows that the storm was one.
    assert set(outcome.strikes.times) == set(Kind)
    assert outcome.strikes.in_flight[Kind.WORKER_KILLED] > 0
    assert outcome.strikes.taken_over > 0, "no paused worker woke to find its messages taken over"
    assert outcome.lost_replies > 0
    assert outcome.ledger.errors["HTTP 503"] > 0, "an outage of Redis costs callers errors"
