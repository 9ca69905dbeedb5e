"""The pages about memory: search it, look at a session, try an assemble; all through the HTTP interface."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from lithify.client.explanation import reason_of, spendings, temporal_line
from lithify.dashboard.charts import budget_bar
from lithify.dashboard.memory_api import Asking, MemoryApi
from lithify.dashboard.pages import Pages
from lithify.dashboard.visitor import Visitor
from lithify.errors import LithifyError
from lithify.events import Clock

HITS: Final = 20
TURNS: Final = 200
CANDIDATES: Final = 25
BUDGET: Final = 1_000
MODES: Final = ("hybrid", "dense", "lexical")


@dataclass(frozen=True, slots=True)
class MemoryPages:
    pages: Pages
    api: MemoryApi
    clock: Clock

    async def search(self, request: Request, visitor: Visitor) -> Response:
        asked = fields(request, "query", "user", "session", "mode")
        answer, problem = None, None
        if asked["query"]:
            body = {name: value for name, value in asked.items() if value} | {"limit": HITS}
            answer, problem = await attempted(self.api.asked_by(visitor, request), "POST", "/v1/search", body)
        return self.pages.draw("search", visitor, asked=asked, answer=answer, problem=problem, modes=MODES)

    async def session(self, request: Request, visitor: Visitor) -> Response:
        asked = fields(request, "user", "session")
        api, timeline, sessions, problem = self.api.asked_by(visitor, request), None, None, None
        user, session = asked["user"], asked["session"]
        if user and session:
            path = f"/v1/sessions/{quote(session, safe='')}/timeline"
            timeline, problem = await attempted(api, "GET", path, user=user, limit=TURNS)
        elif user:
            sessions, problem = await attempted(api, "GET", "/v1/sessions", user=user)
        return self.pages.draw(
            "session", visitor, asked=asked, timeline=timeline, sessions=sessions, problem=problem, most=TURNS
        )

    async def playground(self, request: Request, visitor: Visitor) -> Response:
        asked = fields(request, "query", "user", "session", "budget")
        asked["budget"] = asked["budget"] or str(BUDGET)
        api, answer, problem, explained = self.api.asked_by(visitor, request), None, None, None
        if asked["user"] and asked["session"]:
            answer, problem = await attempted(api, "POST", "/v1/assemble", self._wanted(asked))
        if answer is not None:
            explained = await explanation(api, answer)
        return self.pages.draw("playground", visitor, asked=asked, answer=answer, problem=problem, explained=explained)

    async def docs(self, request: Request, visitor: Visitor) -> Response:
        """Nodes without a docs lane answer 404, which the page says in words."""
        api, lane, documents, problem = self.api.asked_by(visitor, request), None, None, None
        try:
            lane, documents = await api.call_or_none("/v1/docs/lane"), await api.call_or_none("/v1/docs")
        except LithifyError as error:
            problem = str(error)
        return self.pages.draw("docs", visitor, lane=lane, documents=documents, problem=problem)

    def _wanted(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """As of now in so many words: a replay, which leaves no mark in the counts of uses."""
        wanted: dict[str, Any] = {name: asked[name] for name in ("user", "session", "query") if asked[name]}
        return wanted | {"token_budget": asked["budget"], "now": self.clock()}


def fields(request: Request, *names: str) -> dict[str, str]:
    return {name: request.query_params.get(name, "").strip() for name in names}


async def attempted(
    api: Asking, method: str, path: str, body: Any = None, **query: str | int
) -> tuple[Any, str | None]:
    """The answer, or in words why there is none: a visitor's slip belongs beside the form, not on another page."""
    try:
        return await api.call(method, path, body, **query), None
    except LithifyError as error:
        return None, str(error)


async def explanation(api: Asking, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The receipt of an assemble in words; None if it could not be kept."""
    receipt = await api.call_or_none(f"/v1/traces/{quote(answer['trace_id'], safe='')}")
    if receipt is None:
        return None
    spent, rows = spendings(receipt), receipt["considered"][:CANDIDATES]
    texts = await texts_of(api, answer, [row["id"] for row in rows])
    return {
        "spendings": spent,
        "bar": budget_bar({part.name: part.tokens for part in spent}, receipt["tokens"], receipt["token_budget"]),
        "tokens": receipt["tokens"],
        "budget": receipt["token_budget"],
        "temporal": temporal_line(receipt["temporal"]),
        "profile": receipt["profile"]["name"],
        "candidates": [row | {"why": reason_of(row), "text": texts[row["id"]]} for row in rows],
        "considered": len(receipt["considered"]),
        "lost": receipt.get("shortened", {}).get("considered", 0),
        "trace_id": answer["trace_id"],
    }


async def texts_of(api: Asking, answer: Mapping[str, Any], ids: Iterable[str]) -> dict[str, str | None]:
    """Those in the prompt are at hand; the others are asked for, for receipts hold no texts."""
    known: dict[str, str | None] = {
        entry["id"]: entry["text"] for block in answer["blocks"] for entry in block["entries"]
    }
    missing = [record_id for record_id in ids if record_id not in known]
    return known | dict(zip(missing, await asyncio.gather(*map(api.words_of, missing)), strict=True))
