"""The pages about memory: search it, look at a session, try an assemble; all through the HTTP interface.

The interface is asked with the viewer's own key: tenancy stays where it is.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
from starlette.requests import Request
from starlette.responses import Response

from lithify.client.errors import Missing, outages, read_answer
from lithify.client.explanation import reason_of, spendings, temporal_line
from lithify.dashboard.authentication import Viewer
from lithify.dashboard.charts import budget_bar
from lithify.dashboard.pages import Pages
from lithify.errors import LithifyError
from lithify.events import Clock

HITS: Final = 20
TURNS: Final = 200
CANDIDATES: Final = 25
BUDGET: Final = 1_000
MODES: Final = ("hybrid", "dense", "lexical")
FUSIONS: Final = ("rrf", "weighted")
CHOICES: Final = {"only_session": "only this session", "decay": "newer first", "mmr": "varied"}
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

    async def read_record(self, record_id: str) -> Any:
        """Returns a record; None if it was forgotten."""
        return await self.find(f"/v1/memories/{quote(record_id, safe='')}")

    def _transport(self) -> httpx.AsyncBaseTransport | None:
        return None if self.inside is None else httpx.ASGITransport(self.inside.app, raise_app_exceptions=False)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.credential}"} if self.credential else {}


@dataclass(frozen=True, slots=True)
class MemoryPages:
    """The pages about memory; each shows a form and, once it was sent, what the interface answered."""

    pages: Pages
    api: MemoryApi
    clock: Clock

    async def search(self, request: Request, viewer: Viewer) -> Response:
        asked = fields(request, "query", "user", "session", "mode", "fusion", *CHOICES)
        answer, problem = None, None
        if asked["query"]:
            body = {name: value for name, value in asked.items() if value} | {"limit": HITS}
            answer, problem = await try_call(self.api.connect(viewer, request), "POST", "/v1/search", body)
        return self.pages.draw(
            "search", viewer, asked=asked, answer=answer, problem=problem, modes=MODES, fusions=FUSIONS, choices=CHOICES
        )

    async def session(self, request: Request, viewer: Viewer) -> Response:
        asked = fields(request, "user", "session")
        api = self.api.connect(viewer, request)
        timeline, sessions, problem = None, None, None
        user, session = asked["user"], asked["session"]
        if user and session:
            path = f"/v1/sessions/{quote(session, safe='')}/timeline"
            timeline, problem = await try_call(api, "GET", path, user=user, limit=TURNS)
        elif user:
            sessions, problem = await try_call(api, "GET", "/v1/sessions", user=user)
        return self.pages.draw(
            "session", viewer, asked=asked, timeline=timeline, sessions=sessions, problem=problem, most=TURNS
        )

    async def playground(self, request: Request, viewer: Viewer) -> Response:
        asked = fields(request, "query", "user", "session", "budget")
        asked["budget"] = asked["budget"] or str(BUDGET)
        api = self.api.connect(viewer, request)
        answer, problem, explained = None, None, None
        if asked["user"] and asked["session"]:
            answer, problem = await try_call(api, "POST", "/v1/assemble", self._assemble_body(asked))
        if answer is not None:
            explained = await explain(api, answer)
        return self.pages.draw("playground", viewer, asked=asked, answer=answer, problem=problem, explained=explained)

    async def docs(self, request: Request, viewer: Viewer) -> Response:
        """Shows docs memory. Nodes without a docs lane answer 404, which the page says in words."""
        api = self.api.connect(viewer, request)
        lane, documents, problem = None, None, None
        try:
            lane = await api.find("/v1/docs/lane")
            documents = await api.find("/v1/docs")
        except LithifyError as error:
            problem = str(error)
        return self.pages.draw("docs", viewer, lane=lane, documents=documents, problem=problem)

    def _assemble_body(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Returns the body of an assemble as of now: a replay, which leaves no mark in the counts of uses."""
        body: dict[str, Any] = {name: asked[name] for name in ("user", "session", "query") if asked[name]}
        return body | {"token_budget": asked["budget"], "now": self.clock()}


def fields(request: Request, *names: str) -> dict[str, str]:
    return {name: request.query_params.get(name, "").strip() for name in names}


async def try_call(
    api: MemoryApiClient, method: str, path: str, body: Any = None, **query: str | int
) -> tuple[Any, str | None]:
    """Returns the answer, or in words why there is none: a slip belongs beside the form, not on another page."""
    try:
        return await api.call(method, path, body, **query), None
    except LithifyError as error:
        return None, str(error)


async def explain(api: MemoryApiClient, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the receipt of an assemble in words; None if it could not be kept."""
    receipt = await api.find(f"/v1/traces/{quote(answer['trace_id'], safe='')}")
    if receipt is None:
        return None
    spent = spendings(receipt)
    rows = receipt["considered"][:CANDIDATES]
    records = await read_records(api, answer, [row["id"] for row in rows])
    return {
        "spendings": spent,
        "bar": budget_bar({part.name: part.tokens for part in spent}, receipt["tokens"], receipt["token_budget"]),
        "tokens": receipt["tokens"],
        "budget": receipt["token_budget"],
        "temporal": temporal_line(receipt["temporal"]),
        "profile": receipt["profile"]["name"],
        "candidates": [row | {"why": reason_of(row), "record": records[row["id"]]} for row in rows],
        "considered": len(receipt["considered"]),
        "lost": receipt.get("shortened", {}).get("considered", 0),
        "trace_id": answer["trace_id"],
    }


async def read_records(api: MemoryApiClient, answer: Mapping[str, Any], ids: Iterable[str]) -> dict[str, Any]:
    """Returns the records by id: those in the prompt are at hand, the others are asked for; receipts hold no texts."""
    known = {entry["id"]: entry for block in answer["blocks"] for entry in block["entries"]}
    missing = [record_id for record_id in ids if record_id not in known]
    return known | dict(zip(missing, await asyncio.gather(*map(api.read_record, missing)), strict=True))
