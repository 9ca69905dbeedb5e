"""A browser without a screen: keeps cookies, follows forms, and knows their CSRF tokens."""

import re
from html import unescape
from types import TracebackType
from typing import Self

import httpx

from tests.integration.whole_app import ServedApp

HOME = "http://127.0.0.1:8420"
CSRF_TOKEN = re.compile(r'name="csrf_token" value="([0-9a-f]+)"')


class Browser:
    """Talks to the application as a browser on this machine does."""

    def __init__(self, app: ServedApp, base: str = HOME) -> None:
        transport = httpx.ASGITransport(app.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url=base, follow_redirects=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()

    async def see(self, path: str = "", **query: str | int) -> str:
        answer = await self.http.get(f"/dashboard{path}", params=query or None)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return unescape(answer.text)

    async def send(self, path: str, page: str, **fields: str | list[str]) -> httpx.Response:
        """Sends a form as found on a page."""
        token = CSRF_TOKEN.search(page)
        sent = {"csrf_token": token[1] if token else "", **fields}
        return await self.http.post(f"/dashboard{path}", data=sent, headers={"Origin": HOME})

    async def login(self, key: str) -> httpx.Response:
        return await self.send("/login", await self.see("/login"), key=key)
