"""A local HTTP server with one file, ranges, and the faults of real ones."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class FileServer:
    content: bytes
    url: str = ""
    ranges: bool = True  # False: answers with the whole file whatever was asked
    break_after: int | None = None  # closes the connection after so many bytes, once
    asked: list[str | None] = field(default_factory=list)  # the Range header of each request


@contextmanager
def serving(content: bytes) -> Iterator[FileServer]:
    state = FileServer(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(state))
    state.url = f"http://127.0.0.1:{server.server_port}/file"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(state: FileServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            state.asked.append(asked)
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", "/file")
                self.end_headers()
            elif self.path != "/file":
                self.send_error(404)
            else:
                self._send(int(asked.removeprefix("bytes=").rstrip("-")) if asked and state.ranges else 0)

        def _send(self, start: int) -> None:
            if start and start >= len(state.content):
                self.send_error(416)
                return
            body = state.content[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            stop, state.break_after = state.break_after, None
            self.wfile.write(body[:stop])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the overridden parameter
            """Tests are quiet."""

    return Handler
