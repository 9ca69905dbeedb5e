"""Reads request bodies: refuses those above a limit while they arrive, and parses JSON strictly."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lithify.http.problem import problem


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
        # orjson's error is a json.JSONDecodeError, which the framework turns into a validation error.
        self.parsed = orjson.loads(await self.body())
        return self.parsed


class JsonRoute(APIRoute):
    """A route whose handlers get a `JsonRequest`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return read_json
