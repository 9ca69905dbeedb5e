"""Asks the HTTP interface for what concerns memory, with the visitor's own key: tenancy stays where it is."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
from starlette.requests import Request

from lithify.client.refusal import Missing, answer_of, outages
from lithify.dashboard.visitor import Visitor

TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)
INSIDE: Final = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class MemoryApi:
    """`url` names the assembly service; None asks the application the dashboard is part of, without a network."""

    url: str | None = None

    def asked_by(self, visitor: Visitor, request: Request) -> "Asking":
        return Asking(self.url or INSIDE, visitor.credential, None if self.url else request)


@dataclass(frozen=True, slots=True)
class Asking:
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
        return answer_of(response)

    async def call_or_none(self, path: str) -> Any:
        """None where the interface has no such route or thing."""
        try:
            return await self.call("GET", path)
        except Missing:
            return None

    async def words_of(self, record_id: str) -> str | None:
        """The text of a record; None if it was forgotten. Receipts hold no texts."""
        found = await self.call_or_none(f"/v1/memories/{quote(record_id, safe='')}")
        return None if found is None else str(found["text"])

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        return None if self.inside is None else httpx.ASGITransport(self.inside.app, raise_app_exceptions=False)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.credential}"} if self.credential else {}
