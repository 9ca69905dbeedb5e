"""Callers that ask for contexts without a pause and remember every answer, while a test breaks things."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.integration.node_process import NodeProcess

CALLERS = 4
WAIT_SECONDS = 60
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "Where does Ada live?", "id": "host-1", "extra": [1, {"two": None}]},
]
QUESTION: dict[str, Any] = {"user": "ada", "session": "now", "token_budget": 800, "messages": MESSAGES}


@dataclass(slots=True)
class AssemblyLoad:
    """A context manager; `answers` grows until it ends, and then all of them were answers."""

    node: NodeProcess
    answers: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> "AssemblyLoad":
        self._threads = [threading.Thread(target=self._ask) for _ in range(CALLERS)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert not self.failures, self.failures[:3]
        assert all(answer["messages"] == MESSAGES for answer in self.answers)

    def wait_for(self, what: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first answer from now on of which it holds."""
        start, deadline = len(self.answers), time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            assert not self.failures, self.failures[:3]
            for answer in self.answers[start:]:
                if what(answer):
                    return answer
            time.sleep(0.05)
        raise AssertionError(f"no such answer in {WAIT_SECONDS} s; the last one: {self.answers[-1:]}")

    def _ask(self) -> None:
        with httpx.Client(base_url=self.node.url, timeout=30) as http:
            while not self._stop.is_set():
                try:
                    answer = http.post("/v1/assemble", json=QUESTION)
                    answer.raise_for_status()
                    self.answers.append(answer.json())
                except httpx.HTTPError as error:
                    self.failures.append(repr(error))
                    return


def is_well(answer: dict[str, Any]) -> bool:
    return not is_degraded(answer) and "Lisbon" in answer["text"]


def is_degraded(answer: dict[str, Any]) -> bool:
    return bool(answer["degraded"])


def tell(node: NodeProcess) -> None:
    """Something to be recalled, from another session than the one that asks."""
    turn = {"event_id": "e1", "user": "ada", "session": "old", "role": "user", "text": "Ada lives in Lisbon now."}
    assert node.post("/v1/turns?wait=searchable", turn).json()["searchable"]
