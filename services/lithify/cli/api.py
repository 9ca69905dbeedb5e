"""Talks to a running node or service for the commands that read or change memory."""

from typing import Any

import httpx

from lithify.client.refusal import answer_of, outages
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
        with outages(self._url):
            response = self._http.request(method, path, json=body)
        return answer_of(response)
