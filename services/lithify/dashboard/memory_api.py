"""Asks the HTTP interface for what concerns memory, with the viewer's own key: tenancy stays where it is."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
from starlette.requests import Request

from lithify.client.errors import Missing, outages, read_answer
from lithify.dashboard.authentication import Viewer

TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)
INSIDE: Final = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class MemoryApi:
    """`url` names the assembly service; None asks the application the dashboard is part of, without a network."""

    url: str | None = None

    def connect(self, viewer: Viewer, request: Request) -> "MemoryApiClient":
        return MemoryApiClient(self.url or INSIDE, viewer.credential, None if self.url else request)


@dataclass(frozen=True, slots=True)
class MemoryApiClient:
    """Calls the interface for one viewer; `inside` is the request whose application is asked without a network."""

    url: str
    credential: str | None
    inside: Request | None

    async def call(self, method: str, path: str, body: Any = None, **query: str | int) -> Any:
        """Raises what the interface refuses with, in our own kinds of error, and Unavailable where nothing answers."""
        with outages(self.url):
            async with httpx.AsyncClient(
                transport=self._transport(), base_url=self.url, headers=self._headers(), timeout=TIMEOUT
            ) as http:
                response = await http.request(method, path, json=body, params=query)
        return read_answer(response)

    async def find(self, path: str) -> Any:
        """Returns None where the interface has no such route or thing."""
        try:
            return await self.call("GET", path)
        except Missing:
            return None

    async def read_text(self, record_id: str) -> str | None:
        """Returns the text of a record; None if it was forgotten. Receipts hold no texts."""
        found = await self.find(f"/v1/memories/{quote(record_id, safe='')}")
        return None if found is None else str(found["text"])

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        return None if self.inside is None else httpx.ASGITransport(self.inside.app, raise_app_exceptions=False)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.credential}"} if self.credential else {}
