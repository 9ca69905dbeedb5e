"""A host of one tenant: sends its requests with its key, and insists on a decision."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import httpx

# Shorter than the gateway's own patience with Redis (5 s): some retries overtake the request they repeat.
ANSWER_TIMEOUT_S: Final = 4.0
PAUSE_S: Final = 0.1
NO_DECISION: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer that counts, when it was first asked for and when it came; `attempts` were needed."""

    answer: httpx.Response
    sent_at: float
    told_at: float
    attempts: int


@dataclass(slots=True)
class Host:
    http: httpx.AsyncClient
    urls: Sequence[str]
    key: str
    errors: Counter[str]
    tries: "count[int]" = field(default_factory=count)

    async def insist(self, method: str, path: str, body: dict[str, Any] | None = None) -> Decision:
        """Repeats the same request, at whichever service is next, until one takes a decision."""
        sent_at = time.monotonic()
        headers = {"Authorization": f"Bearer {self.key}"}
        for attempt in count(1):
            url = self.urls[next(self.tries) % len(self.urls)]
            try:
                answer = await self.http.request(method, f"{url}{path}", json=body, headers=headers)
            except httpx.TransportError as error:
                self.errors[type(error).__name__] += 1
            else:
                if answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR and answer.status_code not in NO_DECISION:
                    return Decision(answer, sent_at, time.monotonic(), attempt)
                self.errors[f"HTTP {answer.status_code}"] += 1
            await asyncio.sleep(PAUSE_S)
        raise AssertionError("counting does not end")
