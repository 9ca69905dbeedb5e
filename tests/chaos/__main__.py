"""`python -m tests.chaos --minutes 30 --seed 7`: the chaos test for as long as one likes."""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import SystemRandom
from typing import Final

from tests.chaos.campaign import run_campaign
from tests.chaos.driver import Load
from tests.chaos.report import print_report

TURNS_PER_MINUTE: Final = 14_000


def main() -> int:
    options = parse(sys.argv[1:])
    folder = Path(tempfile.mkdtemp(prefix="lithify-chaos-"))
    print(f"seed {options.seed}, data and logs in {folder}", flush=True)
    turns = options.turns or round(options.minutes * TURNS_PER_MINUTE)
    load = Load(options.seed, turns, options.minutes * 60)
    outcome = asyncio.run(run_campaign(load, folder, options.qdrant))
    print_report(outcome)
    if outcome.broken:
        return 1
    shutil.rmtree(folder)
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.5, help="how long load and faults go on")
    parser.add_argument("--turns", type=int, help=f"turns to send; {TURNS_PER_MINUTE:,} a minute if not given")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="repeats a schedule")
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
