"""Reads request bodies: refuses those above a limit while they arrive, and parses JSON strictly."""

from http import HTTPStatus
from typing import Any, Final

import orjson
from fastapi import Request
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lithify.http.problem import problem

# What a parser makes of `[[],[],…` takes thirty times the bytes, and the event loop stands still meanwhile. The largest
# honest bodies are an import of 512 records and a batch of 512 turns: some ten thousand of either.
MAX_CONTAINERS: Final = 50_000
MAX_STRINGS: Final = 100_000
# Below this size there is no room for too many of them.
UNCOUNTED_BYTES: Final = 50_000


class BodyLimit:
    """ASGI middleware that answers 413 to bodies over the limit, whether or not they announce their length."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._refusal = f"body: must not exceed {limit} bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif _announced_length(scope) > self._limit:
            await problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._refusal)(scope, receive, send)
        else:
            await self._app(scope, self._counting(receive), send)

    def _counting(self, receive: Receive) -> Receive:
        seen = 0

        async def count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                # An HTTPException is the one error the framework lets through while it reads a body.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._refusal)
            return message

        return count


def _announced_length(scope: Scope) -> int:
    announced = Headers(scope=scope).get("content-length", "0")
    return int(announced) if announced.isdigit() else 0


class JsonRequest(Request):
    """Parses its body with orjson: strict UTF-8 and a bounded depth, so hostile JSON is an error, not a crash.

    `parsed` is the body once it was read; the framework reads it before it asks dependencies.
    """

    parsed: Any = None

    async def json(self) -> Any:
        body = await self.body()
        refuse_fragments(body)
        # orjson's error is a json.JSONDecodeError, which the framework turns into a validation error.
        self.parsed = orjson.loads(body)
        return self.parsed


def refuse_fragments(body: bytes) -> None:
    """Answers 422 if parsing would make too many lists, objects or texts; takes milliseconds for any body.

    Counts what stands outside of texts as a parser does, up to where the parser would give up.
    """
    if len(body) <= UNCOUNTED_BYTES:
        return
    # Of a run of backslashes an odd one is left, and goes with the quotation mark that it escapes.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * MAX_STRINGS:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"body: must not hold more than {MAX_STRINGS} texts")
    outside = b"".join(plain.split(b'"')[::2])
    if outside.count(b"[") + outside.count(b"{") > MAX_CONTAINERS:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"body: must not hold more than {MAX_CONTAINERS} lists")
