"""Turns what goes wrong on the way, or comes back as a problem, into our kinds of error."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import httpx

from lithify.errors import RETRY_AFTER_S, Conflict, Invalid, LithifyError, Overloaded, Unavailable


class Refused(Invalid):
    """The service refused the request; sending the same again would not help."""

    def __init__(self, message: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Missing(Refused):
    """The service has no such thing in this tenant."""


@contextmanager
def outages(url: str) -> Iterator[None]:
    """Raises Unavailable where nothing answered."""
    try:
        yield
    except httpx.TransportError as error:
        reason = str(error) or type(error).__name__
        raise Unavailable(f"no Lithify at {url} ({reason}); start one with `lithify up`") from error


def read_answer(response: httpx.Response) -> Any:
    """Returns the JSON of a good answer. Raises Refused, Missing, Conflict, Overloaded or Unavailable for any other."""
    if not response.is_success:
        raise make_error(response)
    try:
        return response.json()
    except ValueError as error:
        raise Refused(f"{response.url} did not answer with JSON; is it a Lithify?", response.status_code) from error


def make_error(response: httpx.Response) -> LithifyError:
    status = response.status_code
    message = f"{status} {response.reason_phrase}: {detail_of(response)}"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Overloaded(message, retry_after_s(response))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unavailable(message)
    if status == HTTPStatus.CONFLICT:
        return Conflict(message)
    return (Missing if status == HTTPStatus.NOT_FOUND else Refused)(message, status)


def detail_of(response: httpx.Response) -> str:
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return response.text[:200]


def retry_after_s(response: httpx.Response) -> int:
    # A proxy may say a date instead, which we do not trust our clock with.
    header = response.headers.get("retry-after", "")
    return int(header) if header.isdigit() else RETRY_AFTER_S
