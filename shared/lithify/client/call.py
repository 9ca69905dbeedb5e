"""One request to the service and how to read its answer, without sending it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from lithify.client.refusal import Refused
from lithify.client.results import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """Safe to repeat, all of them; `soft` makes what stands in for the answer when a client fails soft."""

    method: str
    path: str
    kind: type[T]
    body: JsonObject | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    soft: Callable[[str], T] | None = None

    def read(self, answer: Any) -> T:
        """Raises Refused if this is not an answer of Lithify's."""
        try:
            value: T = _adapter(self.kind).validate_python(answer)  # type: ignore[arg-type]  # classes are hashable
        except ValidationError as error:
            raise Refused(f"{self.method} {self.path} was answered by something else: {error}") from error
        return value


def given(**fields: Any) -> JsonObject:
    """The fields that were given; the service decides about the others."""
    return {name: value for name, value in fields.items() if value is not None}


def path(*parts: str) -> str:
    """An id may hold anything, slashes and colons included."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
