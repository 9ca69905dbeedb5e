"""The system as `deploy/tools/run-processes` runs it, seen from outside: addresses, processes, figures."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from lithify.node.child import start_guarded

SCRIPT: Final = Path(__file__).parents[2] / "deploy" / "tools" / "run-processes"
# A dozen interpreters starting at once on two busy cores.
START_S: Final = 600.0
STOP_S: Final = 240.0
POLL_S: Final = 0.1


@dataclass(slots=True)
class Processes:
    data: Path
    script: "subprocess.Popen[bytes]"
    environment: Mapping[str, str]
    more: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def told(self) -> str:
        """What the script has printed so far."""
        return (self.data / "told").read_text()

    def address(self, name: str) -> str:
        found = re.search(rf"^{name}\s+(\S+)$", self.told, re.MULTILINE)
        assert found is not None, self.told
        return found[1]

    def pid(self, name: str) -> int:
        rows = dict(line.split() for line in (self.data / "processes").read_text().splitlines())
        return int(rows[name])

    def start_embed_worker(self, name: str) -> None:
        """As an operator would: with the written environment, in a shell."""
        command = f". '{self.data}/environment' && exec lithify worker embed --name {name}"
        with (self.data / "logs" / f"{name}.log").open("wb") as log:
            self.more.append(subprocess.Popen(["bash", "-c", command], env=self.environment, stdout=log, stderr=log))

    def stop(self) -> int:
        for worker in self.more:
            worker.terminate()
        ends = [worker.wait(STOP_S) for worker in self.more]
        assert not any(ends), ends
        self.script.send_signal(signal.SIGINT)
        return self.script.wait(STOP_S)


@contextmanager
def running_processes(data: Path, qdrant: Path, embed: int, settings: Mapping[str, str]) -> Iterator[Processes]:
    """Ready on entry; whatever happens, nothing is left running."""
    environment = os.environ | settings
    data.mkdir(parents=True)
    command = [str(SCRIPT), "--data", str(data), "--embed", str(embed), "--qdrant", str(qdrant)]
    with (data / "told").open("wb") as told:
        script = start_guarded(command, data / "child.lock", env=environment, stdout=told, stderr=told)
    processes = Processes(data, script, environment)
    try:
        until(lambda: "ready; Ctrl-C" in processes.told or script.poll() is not None, START_S, lambda: processes.told)
        assert script.poll() is None, processes.told
        yield processes
    finally:
        with suppress(ProcessLookupError):
            if script.poll() is None:
                processes.stop()
            script.release()


def until(done: Callable[[], bool], seconds: float, complaint: Callable[[], object]) -> None:
    """A service that does not answer in time has not said no."""
    deadline = time.monotonic() + seconds
    while not answered(done):
        assert time.monotonic() < deadline, complaint()
        time.sleep(POLL_S)


def answered(done: Callable[[], bool]) -> bool:
    try:
        return done()
    except httpx.TransportError:
        return False


def fetched(url: str) -> Any:
    return httpx.get(url, timeout=30.0).raise_for_status().json()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
