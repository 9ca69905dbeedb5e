"""`python -m tests.chaos --minutes 30 --seeds 7,8`: the chaos test for as long as one likes, one seed after another."""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import SystemRandom
from typing import Final

from tests.chaos.campaign import Outcome, run_campaign
from tests.chaos.plan import Load
from tests.chaos.report import print_report, print_sum

TURNS_PER_MINUTE: Final = 14_000


def main() -> int:
    options = parse(sys.argv[1:])
    turns = options.turns or round(options.minutes * TURNS_PER_MINUTE)
    outcomes = [run_seed(Load(seed, turns, options.minutes * 60), options.qdrant) for seed in options.seeds]
    print_sum(outcomes)
    return 1 if any(outcome.broken for outcome in outcomes) else 0


def run_seed(load: Load, qdrant: Path) -> Outcome:
    """Runs one campaign; data and logs of one that broke a promise stay."""
    folder = Path(tempfile.mkdtemp(prefix="lithify-chaos-"))
    print(f"seed {load.seed}, data and logs in {folder}", flush=True)
    outcome = asyncio.run(run_campaign(load, folder, qdrant))
    print_report(outcome)
    if not outcome.broken:
        shutil.rmtree(folder)
    return outcome


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.5, help="how long load and faults go on, for each seed")
    parser.add_argument(
        "--turns", type=int, help=f"turns to send for each seed; {TURNS_PER_MINUTE:,} a minute if not given"
    )
    parser.add_argument(
        "--seeds",
        type=lambda text: [int(seed) for seed in text.split(",")],
        default=[SystemRandom().randrange(10**6)],
        help="each repeats a load and a schedule of faults, for example 1,2,3",
    )
    binary = os.environ.get("LITHIFY_TEST_QDRANT_BIN")
    parser.add_argument(
        "--qdrant",
        type=Path,
        default=binary,
        required=not binary,
        help="Qdrant server binary (LITHIFY_TEST_QDRANT_BIN; see deploy/tools/fetch-qdrant)",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
