"""A process that runs jobs until SIGTERM, as `lithify jobs` does; its jobs write down what they do."""

import asyncio
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lithify.events import system_clock
from lithify.jobs import JobContext, JobRunner, bind_parts, open_connection
from lithify.streams import arm
from tests.integration.jobs_parts import QUEUE, QUICK


def write(folder: Path, line: str) -> None:
    with (folder / "log").open("a") as log:
        log.write(f"{line}\n")


async def steps(context: JobContext[Path], count: int, hold_at: int) -> list[int]:
    """Does one step after another, each once by its checkpoints, and holds before one of them in the first attempt."""
    start = await context.resume()
    done = []
    for step in range(start if isinstance(start, int) else 0, count):
        write(context.parts, f"step {step} in attempt {context.attempt}")
        if step == hold_at and context.attempt == 1:
            await until_released(context.parts)
        await context.checkpoint(step + 1)
        done.append(step)
    return done


async def until_released(folder: Path) -> None:
    while not (folder / "release").exists():  # noqa: ASYNC110 - another process decides
        await asyncio.sleep(0.01)


async def deadly(context: JobContext[Path]) -> None:
    write(context.parts, f"died in attempt {context.attempt}")
    os.kill(os.getpid(), signal.SIGKILL)


async def main(url: str, folder: Path) -> None:
    with open_connection(url) as connection, ThreadPoolExecutor(1) as executor:
        runner = JobRunner(
            connection=connection,
            queue=QUEUE,
            registry={"steps": bind_parts(steps, folder), "deadly": bind_parts(deadly, folder)},
            executor=executor,
            settings=QUICK,
            clock=system_clock,
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, runner.stop)
        await runner.run()


if __name__ == "__main__":
    arm(sys.argv[3] if len(sys.argv) > 3 else None)
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
