"""The verbs: what can be asked of the service, once for both clients."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, Unpack

from lithify.client.call import Call, drop_none, path
from lithify.client.results import (
    Accepted,
    BatchResult,
    Context,
    Document,
    Expansion,
    JsonObject,
    Receipt,
    Record,
    Remembered,
    SearchResult,
    Ticket,
)

Object = dict[str, Any]


class Turn(TypedDict):
    """One turn of a conversation, as `text` or as the message a host has; without an event id the client makes one."""

    user: str
    session: str
    role: Literal["user", "assistant", "system", "tool", "developer", "function"]
    text: NotRequired[str]
    content: NotRequired[str | Sequence[object] | None]
    tool_calls: NotRequired[Sequence[JsonObject]]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]
    event_id: NotRequired[str]
    agent: NotRequired[str]
    ts: NotRequired[int]
    seq: NotRequired[int]
    bundle_id: NotRequired[str]
    reply_to: NotRequired[str]
    supersedes: NotRequired[str]
    source_kind: NotRequired[str]
    source_ref: NotRequired[str]
    meta: NotRequired[JsonObject]


class SearchRanking(TypedDict, total=False):
    """How one search ranks, where the profile is not to decide it (docs/assembly.md, Searching)."""

    fusion: Literal["rrf", "weighted"] | None
    vector_weight: float | None
    multiplier: int | None
    decay: bool | None
    half_life_days: float | None
    mmr: bool | None
    relevance_share: float | None
    threshold: float | None


def ensure_event_id(turn: Turn) -> Turn:
    """Gives a turn an id if it has none.

    Called once, before the first try: only the same id makes a repeated turn the same turn.
    """
    return turn if "event_id" in turn else {**turn, "event_id": uuid.uuid4().hex}


def ingest(*, wait: bool = False, **turn: Unpack[Turn]) -> Call[Accepted]:
    """Send one turn; durable on return. With `wait`, return when recall can find it."""
    sent = ensure_event_id(turn)
    return Call(
        "POST",
        path("turns"),
        Accepted,
        body=sent,
        params={"wait": "searchable"} if wait else {},
        fallback=lambda reason: Accepted(sent["event_id"], "unsent", reason=reason),
    )


def ingest_batch(turns: Sequence[Turn]) -> Call[BatchResult]:
    """Send up to 512 turns; each has a result of its own."""
    return Call("POST", "/v1/turns:batch", BatchResult, body={"turns": [ensure_event_id(turn) for turn in turns]})


def receipt(event_id: str) -> Call[Receipt]:
    """Tell what has happened to an event so far.

    Raises Missing for one that was never sent or whose receipt expired.
    """
    return Call("GET", path("receipts", event_id), Receipt)


def search(
    query: str,
    *,
    user: str | None = None,
    session: str | None = None,
    only_session: bool | None = None,
    limit: int | None = None,
    mode: Literal["hybrid", "dense", "lexical"] | None = None,
    filters: JsonObject | None = None,
    min_score: float | None = None,
    now: int | None = None,
    deadline_ms: int | None = None,
    **ranking: Unpack[SearchRanking],
) -> Call[SearchResult]:
    """Find memories, the best first; the session is preferred, and nothing else is searched with `only_session`.

    A client that fails soft finds nothing and says why.
    """
    optional = drop_none(
        user=user,
        session=session,
        only_session=only_session,
        limit=limit,
        mode=mode,
        filters=filters,
        min_score=min_score,
        now=now,
        deadline_ms=deadline_ms,
        **ranking,
    )
    return Call(
        "POST",
        path("search"),
        SearchResult,
        body={"query": query, **optional},
        fallback=lambda reason: SearchResult(degraded=(reason,)),
    )


def assemble(
    *,
    user: str,
    session: str,
    token_budget: int,
    query: str | None = None,
    messages: Sequence[JsonObject] = (),
    form: Literal["addition", "messages", "split"] | None = None,
    order: Literal["time", "score"] | None = None,
    min_score: float | None = None,
    include_docs: bool | JsonObject | None = None,
    now: int | None = None,
    deadline_ms: int | None = None,
) -> Call[Context]:
    """Build the memory part of the next prompt. A client that fails soft gives the messages back and no memory."""
    optional = drop_none(
        query=query,
        form=form,
        order=order,
        min_score=min_score,
        include_docs=include_docs,
        now=now,
        deadline_ms=deadline_ms,
    )
    required = {"user": user, "session": session, "token_budget": token_budget}
    return Call(
        "POST",
        path("assemble"),
        Context,
        body={**required, **optional, "messages": list(messages)},
        fallback=lambda reason: Context(messages=tuple(messages), degraded=(reason,)),
    )


def trace(trace_id: str) -> Call[Object]:
    """Explain why an earlier search or assemble answered as it did."""
    return Call("GET", path("traces", trace_id), Object)


def remember(
    text: str,
    *,
    user: str | None = None,
    event_id: str | None = None,
    role: str | None = None,
    ts: int | None = None,
    source_kind: str | None = None,
    source_ref: str | None = None,
    supersedes: str | None = None,
) -> Call[Remembered]:
    """Write a durable memory at once: of a user, or without one of all users of the tenant.

    `supersedes` is the id of an older memory of the same user that it replaces; Missing is raised if there is none.
    """
    optional = drop_none(
        user=user,
        event_id=event_id,
        role=role,
        ts=ts,
        source_kind=source_kind,
        source_ref=source_ref,
        supersedes=supersedes,
    )
    scope = "global" if user is None else "user"
    return Call("POST", path("memories"), Remembered, body={"text": text, "scope": scope, **optional})


def read(memory_id: str) -> Call[Record]:
    """Read one stored memory. Raises Missing."""
    return Call("GET", path("memories", memory_id), Record)


def forget(memory_id: str, *, wait: bool = False) -> Call[Object]:
    """Delete one memory everywhere. With `wait`, return when that is done, with its receipt."""
    return Call("DELETE", path("memories", memory_id), Object, params=wait_params(wait))


def forget_session(session: str, *, user: str, wait: bool = False) -> Call[Object]:
    """Delete a session, raw and derived."""
    return Call("DELETE", path("sessions", session), Object, params={"user": user, **wait_params(wait)})


def forget_user(user: str, *, wait: bool = False) -> Call[Object]:
    """Delete everything of a user, raw and derived."""
    return Call("DELETE", path("users", user), Object, params=wait_params(wait))


def wait_params(wait: bool) -> dict[str, str]:
    return {"wait": "true"} if wait else {}


def expand(memory_id: str, *, max_depth: int | None = None) -> Call[Expansion]:
    """Read the raw turns a summary covers, in their order."""
    return Call("POST", f"{path('memories', memory_id)}:expand", Expansion, body=drop_none(max_depth=max_depth))


def compact(session: str, *, user: str, force: bool | None = None) -> Call[Ticket]:
    """Ask for a compaction of a session in the background."""
    return Call("POST", path("sessions", session, "compact"), Ticket, body=drop_none(user=user, force=force))


def put_document(name: str, text: str) -> Call[Document]:
    """Write or replace an authored Markdown document."""
    return Call("PUT", path("authored", name), Document, body={"text": text})


def document(name: str) -> Call[Document]:
    """Read one authored document with its text. Raises Missing."""
    return Call("GET", path("authored", name), Document)


def delete_document(name: str) -> Call[Object]:
    """Remove an authored document; its rules bind nobody on return."""
    return Call("DELETE", path("authored", name), Object)


def request_json(
    method: str, path: str, body: JsonObject | None = None, params: Mapping[str, object] | None = None
) -> Call[Any]:
    """Send any request and return its JSON as it is, for routes without a verb of their own.

    It must be safe to repeat, unless the client was made with `tries=1`. Parameters that are None are left out.
    """
    wanted = {name: str(value) for name, value in drop_none(**(params or {})).items()}
    return Call(method, path, object, body=body, params=wanted)


def status() -> Call[Object]:
    """Tell how the service is and what waits in its queues."""
    return Call("GET", path("status"), Object)
