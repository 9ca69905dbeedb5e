"""Tells a Qdrant server that cannot serve from a request it will never accept."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import httpx
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from lithify.errors import Invalid, LithifyError, Misconfigured, Unavailable


@contextmanager
def server_errors(url: str) -> Iterator[None]:
    """Raises Unavailable, Invalid or Misconfigured for what the client raises; nothing is tried again here."""
    try:
        yield
    except UnexpectedResponse as error:
        raise judged(error.status_code, error.content.decode(errors="replace"), url) from error
    except (ResponseHandlingException, ResourceExhaustedResponse, httpx.HTTPError) as error:
        raise Unavailable(f"Qdrant at {url} cannot be reached: {error}") from error


def judged(status: int | None, content: str, url: str) -> LithifyError:
    """A missing collection is an outage too: it was there when the process started, and must not cost an event."""
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Misconfigured(f"Qdrant at {url} refuses the API key; check LITHIFY_QDRANT_API_KEY")
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
        return Invalid(f"Qdrant at {url} refuses the request: {content}")
    return Unavailable(f"Qdrant at {url} answered {status}: {content}")
