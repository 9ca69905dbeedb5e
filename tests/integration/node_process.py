"""Runs `lithify up` as a newcomer would: its own process, folder and port."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from lithify.node.child import start_guarded
from lithify.node.guard import GuardedProcess

START_SECONDS = 60
STOP_SECONDS = 30


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def lithify(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lithify.cli", *arguments]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False
    )


class NodeProcess:
    def __init__(self, data_dir: Path, models_dir: Path, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.data_dir = data_dir
        self.log = data_dir.with_suffix(".log")
        self.environment = {
            "LITHIFY_DATA_DIR": str(data_dir),
            "LITHIFY_MODELS_DIR": str(models_dir),
            "LITHIFY_PORT": str(self.port),
            "LITHIFY_URL": self.url,
            **settings,
        }
        self.http = httpx.Client(base_url=self.url, timeout=30)
        self._process: GuardedProcess | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "lithify.cli", "up"]
        with self.log.open("ab") as log:
            options = {"env": os.environ | self.environment, "stdout": log, "stderr": log}
            self._process = start_guarded(command, self.data_dir.with_suffix(".lock"), **options)
        self.wait_ready()

    def wait_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the node ended:\n{self.log.read_text()}"
            try:
                if self.http.get("/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"the node was not ready in {START_SECONDS} s:\n{self.log.read_text()}")

    @property
    def process(self) -> GuardedProcess:
        assert self._process is not None
        return self._process

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.release()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_SECONDS)
        self.process.release()
        return code

    def close(self) -> None:
        if self._process is not None:
            if self._process.poll() is None:
                self.stop()
            self._process.release()
        self.http.close()

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.http.post(path, json=body)

    def status(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.get("/v1/status").json()
        return answer

    def wait_drained(self, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while self.status()["unfinished"]:
            assert time.monotonic() < deadline, self.status()
            time.sleep(0.1)
