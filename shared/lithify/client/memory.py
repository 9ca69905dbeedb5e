"""The client for programs that wait for each answer."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar, Unpack

import httpx

from lithify.client import calls
from lithify.client.call import Call
from lithify.client.connection import DEFAULT_URL, Connection, Options
from lithify.client.errors import make_error, outages, read_answer
from lithify.client.retry import pauses, wait_s
from lithify.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


def blocking(verb: Callable[P, Call[T]]) -> Callable[Concatenate["Memory", P], T]:
    @wraps(verb)
    def method(self: "Memory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.do(verb(*args, **kwargs))

    return method


class Memory:
    """A tenant's memory over HTTP. Safe to share between threads; close it, or use it in a `with`."""

    def __init__(
        self, url: str = DEFAULT_URL, *, transport: httpx.BaseTransport | None = None, **options: Unpack[Options]
    ) -> None:
        self._connection = Connection(url, **options)
        self._http = httpx.Client(
            base_url=url,
            headers=self._connection.headers(),
            timeout=self._connection.timeout(),
            transport=transport,
        )

    ingest = blocking(calls.ingest)
    ingest_batch = blocking(calls.ingest_batch)
    receipt = blocking(calls.receipt)
    search = blocking(calls.search)
    assemble = blocking(calls.assemble)
    trace = blocking(calls.trace)
    remember = blocking(calls.remember)
    read = blocking(calls.read)
    forget = blocking(calls.forget)
    forget_session = blocking(calls.forget_session)
    forget_user = blocking(calls.forget_user)
    expand = blocking(calls.expand)
    compact = blocking(calls.compact)
    put_document = blocking(calls.put_document)
    document = blocking(calls.document)
    delete_document = blocking(calls.delete_document)
    status = blocking(calls.status)
    request_json = blocking(calls.request_json)

    def do(self, call: Call[T]) -> T:
        """Sends a call, retrying it through an outage; every verb ends here."""
        for pause_s in pauses(self._connection.tries):
            try:
                return self._send_once(call)
            except Unavailable as error:
                time.sleep(wait_s(pause_s, error))
        try:
            return self._send_once(call)
        except Unavailable as error:
            return self._connection.fall_back(call, error)

    @contextmanager
    def stream(self, path: str, params: Mapping[str, str]) -> Iterator[httpx.Response]:
        """Opens an answer that is too large to be held at once.

        It is asked for once, for what was read of it cannot be taken back. Raises Unavailable if it breaks off.
        """
        with outages(self._connection.url), self._http.stream("GET", path, params=params) as response:
            if not response.is_success:
                response.read()
                raise make_error(response)
            yield response

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send_once(self, call: Call[T]) -> T:
        with outages(self._connection.url):
            response = self._http.request(call.method, call.path, json=call.body, params=call.params)
        return call.read(read_answer(response))
