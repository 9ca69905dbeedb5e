"""One request to the service and how to read its answer, without sending it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from lithify.client.errors import Refused
from lithify.client.results import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, safe to repeat; `fallback` makes what stands in for the answer when a client fails soft."""

    method: str
    path: str
    kind: type[T]
    body: JsonObject | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    fallback: Callable[[str], T] | None = None

    def read(self, answer: Any) -> T:
        """Parses the answer. Raises Refused if it is not one of Lithify's."""
        try:
            value: T = _adapter(self.kind).validate_python(answer)  # type: ignore[arg-type]  # classes are hashable
        except ValidationError as error:
            raise Refused(f"{self.method} {self.path} was answered by something else: {error}") from error
        return value


def drop_none(**fields: Any) -> JsonObject:
    """Returns the fields that are not None; the service decides about the others."""
    return {name: value for name, value in fields.items() if value is not None}


def path(*parts: str) -> str:
    """Returns the path of a route; an id may hold anything, slashes and colons included."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
