"""Bounds what one connection may cost before anybody is known: bytes of headers, time, and places among the others."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lithify.http.origin import PROBES
from lithify.http.problem import RETRY_AFTER_SECONDS, problem

# A client that sends slower than this for longer than it may is no client but a weight.
LEAST_BODY_RATE: Final = 16 * 1024
# Whoever takes nothing of an answer for so long will not take the rest either.
UNREAD_ANSWER_S: Final = 60.0
# A refused connection is read on for so long, and nothing kept: closed at once, it would take the answer with it.
LINGER_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """What a process allows; times are those of headers and, at the least rate, of a body."""

    header_bytes: int = 32 * 1024
    header_s: float = 10.0
    body_s: float = 30.0
    connections: int = 1_000
    requests: int = 500


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits, which it has none of: neither for the size nor for the time of a request.

    A refusal is a problem like every other: 431 for headers, 408 for slowness, 503 where there is no place.
    """

    limits = ConnectionLimits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._served = self.app
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0
        self._deadline: float | None = None
        self._unread_answer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._body_bytes = 0
        # What came since the parser last gave something away: a header without an end is not seen otherwise.
        self._swallowed = 0
        self._is_reading = False
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the parent
        super().connection_made(transport)
        self._begin_reading()
        if len(self.connections) > self.limits.connections and not self._close_idle():
            self._refuse(busy_problem())

    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_over():
            return
        self._begin_reading()
        self._swallowed += len(data)
        super().data_received(data)
        if self._swallowed > self.limits.header_bytes:
            self._refuse(self._header_problem())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._begin_reading()
        self._swallowed = self._header_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._header_bytes += len(url)
        if self._header_bytes <= self.limits.header_bytes:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers come here, too, and count as well.
        self._header_bytes += len(name) + len(value)
        if self._header_bytes <= self.limits.header_bytes:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._header_bytes > self.limits.header_bytes:
            self._refuse(self._header_problem())
        if self._is_over():
            return
        self._start_timer(self.limits.body_s)
        self.app = self._served if self._has_place() else refuse_busy
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._swallowed = 0

    def on_body(self, body: bytes) -> None:
        self._swallowed = 0
        self._body_bytes += len(body)
        if not self._is_over():
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._swallowed = self._body_bytes = 0
        if not self._is_over():
            self._is_reading = False
            self._stop_timer()
            super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_answer = self.loop.call_later(UNREAD_ANSWER_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread_answer is not None:
            self._unread_answer.cancel()
            self._unread_answer = None

    def _begin_reading(self) -> None:
        """Starts the time of the headers with the first byte of a request, and of a connection at once."""
        if not self._is_reading:
            self._is_reading = True
            self._start_timer(self.limits.header_s)

    def _has_place(self) -> bool:
        # Whoever supervises the process must not take load for death.
        return len(self.tasks) < self.limits.requests or self.url.partition(b"?")[0].decode("latin-1") in PROBES

    def _close_idle(self) -> bool:
        """Closes a kept connection on which nobody asks anything, to make room; is false if there is none."""
        for other in self.connections:
            if isinstance(other, BoundedProtocol) and other.timeout_keep_alive_task is not None:
                other.transport.close()
                self.connections.discard(other)
                return True
        return False

    def _start_timer(self, seconds: float) -> None:
        self._deadline = self.loop.time() + seconds
        # One that rings too early is set anew then: most requests are over by that time, and cost no timer at all.
        if self._timer is None or self._rings_at > self._deadline:
            self._set_timer(self._deadline)

    def _stop_timer(self) -> None:
        self._deadline = None

    def _set_timer(self, rings_at: float) -> None:
        self._drop_timer()
        self._rings_at = rings_at
        self._timer = self.loop.call_at(rings_at, self._on_timer)

    def _drop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _on_timer(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._deadline > self._rings_at:
            self._set_timer(self._deadline)
        else:
            self._on_timeout()

    def _on_timeout(self) -> None:
        earned_s = self._body_bytes / LEAST_BODY_RATE
        self._body_bytes = 0
        if self.flow.read_paused:
            # Then it is we who do not read.
            self._start_timer(self.limits.body_s)
        elif earned_s > 0:
            self._start_timer(earned_s)
        else:
            self._refuse(problem(HTTPStatus.REQUEST_TIMEOUT, "the request was not sent in time"))

    def _is_over(self) -> bool:
        return self._is_refused or self.transport.is_closing()

    def _header_problem(self) -> Response:
        most = self.limits.header_bytes
        return problem(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"headers: must not exceed {most} bytes")

    def _refuse(self, answer: Response) -> None:
        """Answers and ends the connection; whoever has the half of another answer already gets no second one."""
        if self._is_over():
            return
        self._drop_timer()
        self._is_refused = True
        # The parent declares it as never None, which it is until the first request.
        running = cast("RequestResponseCycle | None", self.cycle)
        if running is not None and running.response_complete:
            running = None
        if running is not None:
            running.disconnected = True
            running.message_event.set()
        if running is None or not running.response_started:
            self.transport.write(encode_answer(answer))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self._timer = self.loop.call_later(LINGER_S, self.transport.abort)


def bound_protocol(limits: ConnectionLimits) -> type[BoundedProtocol]:
    """Returns the protocol with these limits, as uvicorn takes one."""
    return type("LimitedProtocol", (BoundedProtocol,), {"limits": limits})


def busy_problem() -> Response:
    retry = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, "the service is busy with other requests; try again", retry)


async def refuse_busy(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers in place of the application when it has all hands full."""
    await busy_problem()(scope, receive, send)


def encode_answer(response: Response) -> bytes:
    """Returns an answer as it goes over the line, for where no application is asked."""
    status = HTTPStatus(response.status_code)
    head = [f"HTTP/1.1 {status.value} {status.phrase}".encode()]
    head += [name + b": " + value for name, value in response.raw_headers]
    return b"\r\n".join([*head, b"connection: close", b"", bytes(response.body)])
