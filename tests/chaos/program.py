"""A child process that may be hit at any moment and comes back, as under any init system."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.chaos.process import READY

# Four outages may hit one start after the other, and the machine may be busy.
START_S: Final = 120.0
STOP_S: Final = 60.0
# An init system does not restart in a tight loop either.
RESTART_PAUSE_S: Final = 0.3


class Program:
    """Runs one part. `ready` is set while it works; `exits` holds the code of every end, negative for a signal.

    `hung` counts how often it did not end when told to.
    """

    def __init__(self, name: str, part: str, log: Path, settings: Mapping[str, str]) -> None:
        self.name = name
        self.ready = asyncio.Event()
        self.exits: list[int] = []
        self.hung = 0
        self._part = part
        self._log = log
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._ending = asyncio.Event()

    async def run_once(self, **settings: str) -> int:
        """Start, wait for the end, and return the exit code."""
        self._ending = asyncio.Event()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.chaos.process", self._part),
                env=environment({**self._settings, **settings}),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        if self._stopping:
            self.send(signal.SIGKILL)
        assert self._process.stdout is not None
        self._note(f"started as {self._process.pid}")
        if (await self._process.stdout.readline()).decode().strip() == READY:
            self._note("ready")
            self.ready.set()
        code = await self._process.wait()
        self._note(f"ended with {code}")
        self.ready.clear()
        self.exits.append(code)
        self._ending.set()
        return code

    async def supervise(self) -> None:
        """Start it again whenever it ends, until `stop()`."""
        while not self._stopping:
            await self.run_once()
            await asyncio.sleep(RESTART_PAUSE_S)

    async def wait_ready(self) -> None:
        try:
            async with asyncio.timeout(START_S):
                await self.ready.wait()
        except TimeoutError:
            raise AssertionError(f"{self.name} was not ready in {START_S} s:\n{self.last_words()}") from None

    def send(self, number: signal.Signals) -> None:
        """A process that has just ended by itself needs no signal."""
        if self._process is not None and self._process.returncode is None:
            # Not by Popen, which would fetch the exit code before asyncio's watcher does, and lose it.
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    async def end(self, number: signal.Signals) -> None:
        """Send a signal and wait until the process is gone; one that hangs is killed."""
        ending = self._ending
        self.send(number)
        try:
            async with asyncio.timeout(STOP_S):
                await ending.wait()
        except TimeoutError:
            self._note(f"hangs after {number.name}")
            self.hung += 1
            self.send(signal.SIGKILL)
            await ending.wait()

    async def stop(self) -> None:
        """Ask it to drain and end, for good."""
        self._stopping = True
        if self._process is not None and self._process.returncode is None:
            self.send(signal.SIGCONT)
            await self.end(signal.SIGTERM)

    def _note(self, what: str) -> None:
        with self._log.open("a") as log:
            log.write(f"{datetime.now(UTC).isoformat()} {self.name} {what}\n")

    def last_words(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-20:]) if self._log.exists() else ""


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Ours only: a setting of the person running the tests must not reach the processes."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("LITHIFY_")}
    return {**inherited, **settings}
