"""Kills, outages, lost replies, poison, forgetting under load: nothing lost, invented, doubled, revived, crossed."""

import os
from pathlib import Path
from random import SystemRandom
from typing import Final

import pytest

from tests.chaos.campaign import run_campaign
from tests.chaos.faults import Kind
from tests.chaos.forgetting import TargetKind
from tests.chaos.ledger import TENANTS
from tests.chaos.plan import Load
from tests.chaos.report import print_report

TURNS: Final = 12_000
# The whole test, starting and reckoning included, must stay at about four minutes on two cores.
SECONDS: Final = 75.0

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
    assert len(outcome.ledger.lives) == TURNS
    # What follows shows that the storm was one.
    assert set(outcome.strikes.times) == set(Kind)
    assert outcome.strikes.in_flight[Kind.WORKER_KILLED] > 0
    assert outcome.strikes.taken_over > 0, "no paused worker woke to find its messages taken over"
    assert outcome.lost_replies > 0
    asked = {(forgetting.target.tenant, forgetting.target.kind) for forgetting in outcome.ledger.forgettings}
    assert asked == {(tenant, kind) for tenant in TENANTS for kind in TargetKind}
    assert outcome.ledger.resent, "nothing that was forgotten was sent again"
    assert outcome.ledger.questions, "nobody asked for what the other tenant had said"
    assert outcome.kinds["put away"] > 0, "no session was compacted"
    assert outcome.ledger.errors["HTTP 503"] > 0, "an outage of Redis costs callers errors"
