"""A turn as a host writes it: a plain dictionary, or the keywords of a call."""

import uuid
from typing import Literal, NotRequired, TypedDict

from lithify.client.results import JsonObject


class Turn(TypedDict):
    """One turn of a conversation; without an event id the client makes one."""

    user: str
    session: str
    role: Literal["user", "assistant", "system", "tool"]
    text: str
    event_id: NotRequired[str]
    agent: NotRequired[str]
    ts: NotRequired[int]
    seq: NotRequired[int]
    bundle_id: NotRequired[str]
    reply_to: NotRequired[str]
    source_kind: NotRequired[str]
    source_ref: NotRequired[str]
    meta: NotRequired[JsonObject]


def ensure_event_id(turn: Turn) -> Turn:
    """Gives a turn an id if it has none.

    Called once, before the first try: only the same id makes a repeated turn the same turn.
    """
    return turn if "event_id" in turn else {**turn, "event_id": uuid.uuid4().hex}
