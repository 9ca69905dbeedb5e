"""Reads request bodies with orjson: strict UTF-8 and a bounded depth, so hostile JSON is an error, not a crash."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute


class JsonRequest(Request):
    """`parsed` is the body once it was read; the framework reads it before it asks dependencies."""

    parsed: Any = None

    async def json(self) -> Any:
        # orjson's error is a json.JSONDecodeError, which the framework turns into a validation error.
        self.parsed = orjson.loads(await self.body())
        return self.parsed


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return read_json
