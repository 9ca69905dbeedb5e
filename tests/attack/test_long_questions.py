"""However long and odd a question is, everybody else is served while it is answered."""

import base64
import hashlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytestmark = pytest.mark.attack

# What the issue of the service promises, whoever asks what.
LONGEST_STALL_S = 1.0
# The machine may stall by itself; the service is to blame if it does each time.
TRIES = 3
LENGTH = 262_144
BLOB = base64.urlsafe_b64encode(b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(6_200)))
QUESTIONS = {
    "dashes": "-" * 32_768,
    "base64": BLOB.decode()[:LENGTH],
    "ligatures": "\ufdfa" * 80_000,
    "one word": "x" * LENGTH,
    "capitals": "A" * LENGTH,
    "paths": "a/" * (LENGTH // 2),
    "accents": "e\u0301\u0316" * (LENGTH // 3),
    "words": " ".join(hashlib.sha256(str(n).encode()).hexdigest()[:6] for n in range(37_000)),
    "dates": "on the 3rd of May 2021, " * 10_000,
    "names": "Ada's Ada " * 26_000,
    "han": "一" * 200_000,
    "spaces": " " * 200_000 + "?",
    "lines": "\n" * 200_000 + "?",
}
DOCS_MOST = 32_768


def ask(target: httpx.Client, path: str, user: str, question: str) -> int:
    asked = {
        "/v1/docs/search": {"query": question[:DOCS_MOST]},
        "/v1/search": {"user": user, "query": question},
        "/v1/assemble": {"user": user, "session": "s", "query": question, "token_budget": 2_000, "include_docs": True},
    }
    return target.post(path, json=asked[path], timeout=60).status_code


def watch_liveness(url: str, ending: threading.Event) -> float:
    """Returns how long the slowest answer took."""
    worst = 0.0
    with httpx.Client(base_url=url, timeout=60) as client:
        while not ending.is_set():
            started = time.perf_counter()
            client.get("/livez")
            worst = max(worst, time.perf_counter() - started)
            ending.wait(0.02)
    return worst


@pytest.fixture(scope="module", autouse=True)
def remembered(target: httpx.Client) -> None:
    """Something to compare the questions with."""
    turns = [
        {
            "event_id": f"long-{n}",
            "user": "long",
            "session": "s",
            "role": "user",
            "text": f"My boat number {n} is Ada's.",
        }
        for n in range(40)
    ]
    target.post("/v1/turns:batch", json={"turns": turns}, params={"wait": "searchable"}).raise_for_status()


@pytest.mark.parametrize("path", ["/v1/docs/search", "/v1/search", "/v1/assemble"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_long_question_stalls_nobody(target: httpx.Client, path: str, name: str) -> None:
    stalls = []
    for _ in range(TRIES):
        ending = threading.Event()
        with ThreadPoolExecutor(1) as beside:
            watching = beside.submit(watch_liveness, str(target.base_url), ending)
            status = ask(target, path, "long", QUESTIONS[name])
            ending.set()
        assert status == 200
        stalls.append(watching.result())
        if stalls[-1] < LONGEST_STALL_S:
            return
    raise AssertionError(f"{path} with {name} stalled the service for {min(stalls):.2f} s")
