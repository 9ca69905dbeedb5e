"""A gateway of its own process: closed by its first key, and never open to other machines without one."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.integration.node_process import free_port, lithify

PATIENCE_S = 60
TURN = {"event_id": "e", "user": "u", "session": "s", "role": "user", "text": "hello"}


@contextmanager
def gateway(redis_url: str, log: Path) -> Iterator[httpx.Client]:
    port = free_port()
    command = [sys.executable, "-m", "lithify.cli", "serve", "gateway", "--port", str(port)]
    with log.open("wb") as output:
        environment = os.environ | {"LITHIFY_REDIS_URL": redis_url}
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
        try:
            until(lambda: answers(http), log)
            yield http
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def answers(http: httpx.Client) -> bool:
    try:
        return http.get("/livez").is_success
    except httpx.TransportError:
        return False


def until(condition: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def test_the_first_key_closes_a_running_gateway_and_its_log_never_shows_a_key(redis_url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with gateway(redis_url, log) as http:
        assert http.post("/v1/turns", json=TURN).status_code == 202

        made = lithify("keys", "create", "--tenant", "acme", "--scopes", "ingest", LITHIFY_REDIS_URL=redis_url)
        key = made.stdout.strip()
        until(lambda: http.post("/v1/turns", json=TURN).status_code == 401, log)
        http.headers["Authorization"] = f"Bearer {key}"
        assert http.post("/v1/turns", json=TURN).status_code == 202
        assert http.get("/v1/receipts/e").status_code == 403

        lithify("keys", "revoke", key.split("_")[1], LITHIFY_REDIS_URL=redis_url)
        until(lambda: http.post("/v1/turns", json=TURN).status_code == 401, log)
        del http.headers["Authorization"]
        assert http.post("/v1/turns", json=TURN).status_code == 401
    written = log.read_text()
    assert key.split("_")[1] in written
    assert key.split("_")[2] not in written


def test_a_gateway_for_other_machines_does_not_start_without_keys(redis_url: str) -> None:
    port = str(free_port())
    refused = lithify("serve", "gateway", "--host", "0.0.0.0", "--port", port, LITHIFY_REDIS_URL=redis_url)
    assert refused.returncode == 3
    assert "LITHIFY_HOST" in refused.stderr
    assert "lithify keys create" in refused.stderr
