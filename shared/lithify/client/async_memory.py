"""The client for programs that do other things while they wait."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar, Unpack

import httpx

from lithify.client import calls
from lithify.client.call import Call
from lithify.client.connection import DEFAULT_URL, Connection, Options
from lithify.client.errors import outages, read_answer
from lithify.client.retry import pauses, wait_s
from lithify.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


def awaiting(verb: Callable[P, Call[T]]) -> Callable[Concatenate["AsyncMemory", P], Awaitable[T]]:
    @wraps(verb)
    async def method(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.do(verb(*args, **kwargs))

    return method


class AsyncMemory:
    """A tenant's memory over HTTP, for one event loop; close it, or use it in an `async with`."""

    def __init__(
        self, url: str = DEFAULT_URL, *, transport: httpx.AsyncBaseTransport | None = None, **options: Unpack[Options]
    ) -> None:
        self._connection = Connection(url, **options)
        self._http = httpx.AsyncClient(
            base_url=url,
            headers=self._connection.headers(),
            timeout=self._connection.timeout(),
            transport=transport,
        )

    ingest = awaiting(calls.ingest)
    ingest_batch = awaiting(calls.ingest_batch)
    receipt = awaiting(calls.receipt)
    search = awaiting(calls.search)
    assemble = awaiting(calls.assemble)
    trace = awaiting(calls.trace)
    remember = awaiting(calls.remember)
    read = awaiting(calls.read)
    forget = awaiting(calls.forget)
    forget_session = awaiting(calls.forget_session)
    forget_user = awaiting(calls.forget_user)
    expand = awaiting(calls.expand)
    compact = awaiting(calls.compact)
    put_document = awaiting(calls.put_document)
    document = awaiting(calls.document)
    delete_document = awaiting(calls.delete_document)
    status = awaiting(calls.status)
    request_json = awaiting(calls.request_json)

    async def do(self, call: Call[T]) -> T:
        """Sends a call, retrying it through an outage; every verb ends here."""
        for pause_s in pauses(self._connection.tries):
            try:
                return await self._send_once(call)
            except Unavailable as error:
                await asyncio.sleep(wait_s(pause_s, error))
        try:
            return await self._send_once(call)
        except Unavailable as error:
            return self._connection.fall_back(call, error)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _send_once(self, call: Call[T]) -> T:
        with outages(self._connection.url):
            response = await self._http.request(call.method, call.path, json=call.body, params=call.params)
        return call.read(read_answer(response))
