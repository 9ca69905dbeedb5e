"""Both clients behind one function, against a service that is a function."""

from collections.abc import Callable
from typing import Any

import httpx

from lithify.client import AsyncMemory, Memory

URL = "http://lithify"
KINDS = ("blocking", "async")
ACCEPTED = {"event_id": "e", "stream_id": "1-0", "status": "accepted", "seq": 1, "searchable": None}
TURN: dict[str, Any] = {"user": "ada", "session": "s", "role": "user", "text": "hello"}

Handler = Callable[[httpx.Request], httpx.Response]


async def ask(kind: str, handler: Handler, verb: str, *args: Any, options: Any = None, **given: Any) -> Any:
    """Call a verb of one of the clients."""
    transport = httpx.MockTransport(handler)
    if kind == "blocking":
        with Memory(URL, transport=transport, **options or {}) as memory:
            return getattr(memory, verb)(*args, **given)
    async with AsyncMemory(URL, transport=transport, **options or {}) as memory:
        return await getattr(memory, verb)(*args, **given)


class Service:
    """Answers one after the other, the last one for ever, and keeps what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        # A response is used up by the client that reads it.
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def problem(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"status": status, "detail": "the reason"}, headers=headers)
