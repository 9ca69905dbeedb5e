"""A real Qdrant server as a child process: own folder, free ports, no telemetry."""

import os
import socket
import time
from pathlib import Path

import httpx

from lithify.node.child import start_guarded
from lithify.node.guard import GuardedProcess

READY_WITHIN_SECONDS = 30.0
STOPPED_WITHIN_SECONDS = 20.0


class QdrantServer:
    """May be started again on the same folder after a stop or a kill."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._port, self._grpc_port = free_port(), free_port()
        self._process: GuardedProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        log = self._folder / "log"
        with log.open("ab") as output:
            command = [str(self._binary), "--disable-telemetry"]
            options = {"cwd": self._folder, "env": self._environment(), "stdout": output, "stderr": output}
            self._process = start_guarded(command, self._folder / "child.lock", **options)
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while not self._ready():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(STOPPED_WITHIN_SECONDS)
            self._process.release()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process.release()

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=1.0).is_success
        except httpx.TransportError:
            return False

    def _environment(self) -> dict[str, str]:
        settings = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": str(self._port),
            "SERVICE__GRPC_PORT": str(self._grpc_port),
            "STORAGE__STORAGE_PATH": str(self._folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
            "TELEMETRY_DISABLED": "true",
        }
        return os.environ | {f"QDRANT__{name}": value for name, value in settings.items()}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
