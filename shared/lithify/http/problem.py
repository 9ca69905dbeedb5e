"""Every HTTP error is made here, as problem+json, naming the field where there is one."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from lithify.access import Forbidden, Unauthorised
from lithify.errors import Conflict, Invalid, LithifyError, Misconfigured, Overloaded, Unavailable

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2

# A refusal must not be larger than what it refuses: as many errors as a person reads at once, each as long as a line.
MAX_ERRORS: Final = 20
MAX_FIELD_CHARS: Final = 120
MAX_MESSAGE_CHARS: Final = 300
MAX_DETAIL_CHARS: Final = 2_000

log = structlog.get_logger(__name__)


class NotFound(LithifyError):
    """No such thing in this tenant."""


# The first kind that matches decides; what is not listed is a fault of ours.
STATUS_OF: tuple[tuple[type[LithifyError], HTTPStatus], ...] = (
    (Unauthorised, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (NotFound, HTTPStatus.NOT_FOUND),
    (Conflict, HTTPStatus.CONFLICT),
    (Invalid, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Overloaded, HTTPStatus.TOO_MANY_REQUESTS),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    # A key that the engine or Redis refuses: nothing that the caller did, and it passes when the operator mends it.
    (Misconfigured, HTTPStatus.SERVICE_UNAVAILABLE),
)


def problem(status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, **extra: Any) -> Response:
    told = shorten(detail, MAX_DETAIL_CHARS)
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": told, **extra}
    return Response(orjson.dumps(body), status.value, headers, MEDIA_TYPE)


def refuse(error: LithifyError) -> Response:
    """Returns the problem that an error of ours is to its caller; a fault of ours is logged."""
    for kind, status in STATUS_OF:
        if isinstance(error, kind):
            return problem(status, str(error), extra_headers(error))
    return fail(error)


def fail(error: Exception) -> Response:
    log.error("request_failed", kind=type(error).__name__, exc_info=error)
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected failure; the log has the details")


def field_errors(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Returns `[{"field": "turns.0.role", "message": …}]`, the first of many; the input itself is never echoed."""
    return [{"field": field_name(e["loc"], e["msg"]), "message": readable(e["msg"])} for e in errors[:MAX_ERRORS]]


def field_name(location: Sequence[int | str], message: str) -> str:
    named = ".".join(shorten(str(part), MAX_FIELD_CHARS) for part in location if part != "body")
    # Checks over the whole turn have no location of their own; all of them are about its text.
    return shorten(named, MAX_FIELD_CHARS) or ("text" if "text" in message else "body")


def readable(message: str) -> str:
    return shorten(message.removeprefix("Value error, "), MAX_MESSAGE_CHARS)


def shorten(text: str, chars: int) -> str:
    """Cuts a text that is too long, visibly; what cannot be written as UTF-8 is replaced."""
    cut = text if len(text) <= chars else f"{text[: chars - 1]}…"
    return cut.encode(errors="replace").decode()


async def on_validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type only
    details = error.errors()
    if details and details[0]["type"] == "json_invalid":
        return problem(HTTPStatus.BAD_REQUEST, f"the body is not valid JSON: {details[0]['ctx']['error']}")
    if _is_not_json(request) and any(detail["loc"][:1] == ("body",) for detail in details):
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body with content-type: application/json")
    errors = field_errors(details)
    first = "; ".join(f"{e['field']}: {e['message']}" for e in errors[:3])
    more: dict[str, Any] = {"omitted_errors": len(details) - len(errors)} if len(details) > len(errors) else {}
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, first, errors=errors, **more)


def _is_not_json(request: Request) -> bool:
    has_body = request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    return has_body and "json" not in request.headers.get("content-type", "")


async def on_http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type only
    return problem(HTTPStatus(error.status_code), str(error.detail), error.headers)


async def on_lithify_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, LithifyError)  # noqa: S101 - registered for this type only
    return refuse(error)


def extra_headers(error: Exception) -> dict[str, str] | None:
    if isinstance(error, Unauthorised):
        return {"WWW-Authenticate": 'Bearer realm="lithify"'}
    if not isinstance(error, Unavailable):
        return None
    seconds = error.retry_after_s if isinstance(error, Overloaded) else RETRY_AFTER_SECONDS
    return {"Retry-After": str(seconds)}


async def on_unexpected_error(_: Request, error: Exception) -> Response:
    return fail(error)


def install(app: FastAPI) -> None:
    app.add_exception_handler(RequestValidationError, on_validation_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(LithifyError, on_lithify_error)
    app.add_exception_handler(Exception, on_unexpected_error)
