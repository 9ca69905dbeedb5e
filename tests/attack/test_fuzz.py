"""Thousands of requests to every operation, from valid to hostile: no failure, no standstill, no memory kept.

`make fuzz REQUESTS=10000` runs the full length and judges standstill and memory, too; the default suite sends some
hundred. `LITHIFY_ATTACK_URL` points it at a service, whose memory is not looked at.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.attack.conftest import FOREIGN_KEY, FOREIGN_URL
from tests.attack.fuzz_requests import Fuzz, FuzzRequest
from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.attack

ASKED: Final = os.environ.get("LITHIFY_FUZZ_REQUESTS", "")
REQUESTS: Final = int(ASKED or 300)
SEED: Final = int(os.environ.get("LITHIFY_FUZZ_SEED") or 1)
# The same requests, before memory is first looked at: caches, pools and the model's own arenas are filled then.
WARM_UP_SHARE: Final = 0.25
CONNECTIONS: Final = 8
TIMEOUT_S: Final = 60.0
SETTLE_S: Final = 180.0
MEMORY_GROWTH: Final = 1.2
LARGEST_PROBLEM: Final = 64 * 1024
# A key made in passing would lock out whoever has none.
KEY_MAKING: Final = ("POST", "/v1/keys")
# These say by their status how the service fares.
PROBES: Final = ("/livez", "/readyz")


@dataclass(slots=True)
class Tally:
    """What was answered; `broken` are answers that no request may get."""

    statuses: Counter[str] = field(default_factory=Counter)
    succeeded: set[tuple[str, str]] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    def note(self, request: FuzzRequest, answer: httpx.Response) -> None:
        self.statuses[f"{answer.status_code // 100}xx"] += 1
        if answer.is_success:
            self.succeeded.add((request.method, request.path))
        elif why := find_fault(request, answer):
            shown = (request.content or b"")[:200]
            self.broken.append(f"{why}: {request.method} {request.target[:200]} {shown!r} -> {answer.text[:300]}")


def find_fault(request: FuzzRequest, answer: httpx.Response) -> str | None:
    """Returns what is wrong with an answer that is no success; None for an honest refusal."""
    status = answer.status_code
    if request.path in PROBES:
        return None
    if status >= 500:
        return f"HTTP {status}"
    if not answer.is_error:
        return None
    if answer.headers.get("content-type") != "application/problem+json":
        return f"HTTP {status} as {answer.headers.get('content-type')}"
    problem = {} if request.method == "HEAD" else answer.json()
    if problem.get("status") != status or not problem.get("detail"):
        return f"HTTP {status} that does not say why"
    return f"a problem of {len(answer.content)} bytes" if len(answer.content) > LARGEST_PROBLEM else None


@dataclass(frozen=True, slots=True)
class Service:
    """`node` is None for a foreign service."""

    url: str
    node: NodeProcess | None

    def client(self, key: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=CONNECTIONS)
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=TIMEOUT_S, limits=limits)

    def read_memory(self) -> int:
        """Returns the resident bytes of the node's own process."""
        assert self.node is not None
        pages = Path(f"/proc/{self.node.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Service]:
    if FOREIGN_URL:
        yield Service(FOREIGN_URL, None)
        return
    models: Path = request.getfixturevalue("models_dir")
    # Waiting is no work: with the usual patience the run would take hours of it.
    node = NodeProcess(tmp_path_factory.mktemp("fuzz") / "data", models, LITHIFY_WAIT_LIMIT_MS="200")
    node.start()
    yield Service(node.url, node)
    node.close()


async def send(http: httpx.AsyncClient, request: FuzzRequest, tally: Tally) -> None:
    headers = dict(request.headers)
    if request.key is not None:
        headers["Authorization"] = request.key
    # A path of dots would become another path.
    url = http.base_url.copy_with(raw_path=request.target.encode())
    try:
        answer = await http.request(request.method, url, content=request.content, headers=headers)
    except httpx.TransportError as error:
        # A connection may be closed on a request that is refused before it has been read, and on nothing else.
        tally.statuses[type(error).__name__] += 1
        if len(request.content or b"") + sum(map(len, headers.values())) < 4_000:
            tally.broken.append(f"{type(error).__name__}: {request.method} {request.target[:200]}")
        return
    tally.note(request, answer)


async def send_all(service: Service, key: str, fuzz: Fuzz, numbers: range, tally: Tally) -> None:
    waiting = iter(numbers)

    async def work(http: httpx.AsyncClient) -> None:
        for number in waiting:
            await send(http, fuzz.make(number), tally)

    async with service.client(key) as http, asyncio.TaskGroup() as tasks:
        for _ in range(CONNECTIONS):
            tasks.create_task(work(http))


async def settle(service: Service, key: str) -> None:
    """Waits until what was accepted is done."""
    deadline = time.monotonic() + SETTLE_S
    async with service.client(key) as http:
        while (status := (await http.get("/v1/status")).json())["unfinished"]:
            waiting = [lag for lag in status["streams"] if lag["unread"] or lag["pending"]]
            assert time.monotonic() < deadline, f"the backlog of the fuzz does not drain: {waiting}"
            await asyncio.sleep(0.5)


@contextmanager
def watching(url: str, seen: dict[str, Any]) -> Iterator[None]:
    """Asks meanwhile whether the service lives, and fills in what came of it."""
    command = [sys.executable, "-m", "tests.attack.liveness_watch", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as watcher:
        try:
            yield
        finally:
            told, _ = watcher.communicate()
            seen |= json.loads(told)


async def read_document(service: Service, key: str) -> dict[str, Any]:
    async with service.client(key) as http:
        answer = await http.get("/openapi.json")
        document: dict[str, Any] = answer.raise_for_status().json()
        return document


async def make_key(service: Service) -> str:
    """Makes an admin key, from which on the service asks everybody for one."""
    if FOREIGN_URL:
        return FOREIGN_KEY
    async with service.client("") as http:
        answer = await http.post("/v1/keys", json={"scopes": ["admin"], "name": "fuzz"})
    return str(answer.raise_for_status().json()["key"])


async def test_no_request_makes_the_service_fail(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    key = FOREIGN_KEY
    document = await read_document(service, key)
    fuzz = Fuzz(document, SEED, [KEY_MAKING])
    open_half, closed_half = range(REQUESTS // 2), range(REQUESTS // 2, REQUESTS)
    tally, seen, memory = Tally(), dict[str, Any](), [0, 0]
    with watching(service.url, seen):
        await send_all(service, key, fuzz, range(round(REQUESTS * WARM_UP_SHARE)), tally)
        await settle(service, key)
        memory[0] = service.read_memory() if service.node else 0
        await send_all(service, key, fuzz, open_half, tally)
        key = await make_key(service)
        await send_all(service, key, Fuzz(document, SEED), closed_half, tally)
        await settle(service, key)
        memory[1] = await read_settled_memory(service, memory[0])
    with capsys.disabled():
        print_figures(tally, seen, memory)
    assert tally.broken == []
    # Else only the refusals would have been tried.
    reached = tally.succeeded & fuzz.reached
    assert {("POST", "/v1/turns"), ("POST", "/v1/search"), ("POST", "/v1/assemble")} <= reached
    if ASKED:
        assert len(reached) > len(fuzz.reached) / 2
        assert not seen["stalls"], f"/livez took {seen['worst_s']:.2f} s"
        assert memory[1] <= memory[0] * MEMORY_GROWTH


async def read_settled_memory(service: Service, before: int) -> int:
    """Returns the memory once it is back to what it may be, or after a minute."""
    if service.node is None:
        return 0
    deadline = time.monotonic() + 60
    while True:
        now = service.read_memory()
        if now <= before * MEMORY_GROWTH or time.monotonic() > deadline:
            return now
        await asyncio.sleep(1)


def print_figures(tally: Tally, seen: dict[str, Any], memory: list[int]) -> None:
    print(f"\nfuzz seed {SEED}: {tally.statuses.total()} requests, {dict(sorted(tally.statuses.items()))}")
    print(f"operations that succeeded: {len(tally.succeeded)}")
    print(f"/livez: asked {seen['asked']} times, slowest {seen['worst_s'] * 1000:.0f} ms, over 1 s {seen['stalls']}")
    before, after = (bytes_ / 2**20 for bytes_ in memory)
    print(f"resident memory: {before:.0f} MiB after the warm-up, {after:.0f} MiB at the end")
    for line in Counter(broken.partition(":")[0] for broken in tally.broken).most_common():
        print("broken", *line)
