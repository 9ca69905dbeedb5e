"""A route that asks who calls before it reads what they send."""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from lithify.http.authorization import Authorization
from lithify.http.body import JsonRequest


class JsonRoute(APIRoute):
    """A route whose handlers get a `JsonRequest`. Whoever may not call it is told before the body is read.

    The framework reads and parses a body before it asks any dependency; those that authorize are asked here first.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        authorizations = list(find_authorizations(self.dependant))

        async def answer(request: Request) -> Response:
            asked = JsonRequest(request.scope, request.receive)
            for authorization in authorizations:
                await authorization.admit(asked)
            return await handle(asked)

        return answer


def find_authorizations(dependant: Dependant) -> Iterator[Authorization[Any]]:
    """Yields every dependency of a route that authorizes, wherever it stands."""
    if isinstance(dependant.call, Authorization):
        yield dependant.call
    for below in dependant.dependencies:
        yield from find_authorizations(below)
