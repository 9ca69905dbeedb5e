"""Talks to a running node or service for the commands that read or change memory."""

from http import HTTPStatus
from typing import Any

import httpx

from lithify.errors import RETRY_AFTER_S, Invalid, LithifyError, Overloaded, Unavailable
from lithify.settings import Settings

# Connecting is quick or hopeless; an answer may wait for `?wait=searchable`.
TIMEOUT = httpx.Timeout(60.0, connect=5.0)


class Api:
    """One HTTP connection to `LITHIFY_URL`; refusals come back as our own errors with the service's words."""

    def __init__(self, settings: Settings) -> None:
        key = settings.api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        self._url = settings.url.rstrip("/")
        self._http = httpx.Client(base_url=self._url, headers=headers, timeout=TIMEOUT)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        try:
            response = self._http.request(method, path, json=body)
        except httpx.TransportError as error:
            raise Unavailable(f"no Lithify at {self._url} ({error}); start one with `lithify up`") from error
        if response.is_success:
            return response.json()
        raise refusal(response)


def refusal(response: httpx.Response) -> LithifyError:
    try:
        detail = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        detail = response.text[:200]
    message = f"{response.status_code} {response.reason_phrase}: {detail}"
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return Overloaded(message, int(response.headers.get("retry-after", RETRY_AFTER_S)))
    return Unavailable(message) if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE else Invalid(message)
