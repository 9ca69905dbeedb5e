"""Decides which turns are standing instructions and survive compaction verbatim (spec 11, elevated guidance)."""

import re
from dataclasses import dataclass

from lithify.memory.bounds import clamp01, number_or
from lithify.memory.turn import Turn

STABILITY = 0.35
PROTOTYPE_COSINE = 0.78
USER_STABILITY = 0.5
_STABILITY_OF_ROLE = {"user": USER_STABILITY, "assistant": 0.25}
_OTHER_STABILITY = 0.2

# A turn that only resembles these, and fires no deontic rule, is still advice worth keeping.
PROTOTYPES = (
    "From now on, always answer in the way I describe here.",
    "Please avoid doing this in the rest of the project.",
    "We decided on this approach, so keep to it in later work.",
    "When you have to choose, put this before everything else.",
)

_HINT = re.compile(
    r"\b(?:prefer|prioriti[sz]e|focus|avoid|reject|keep|ensure|consider|should|must|never|do not|don['’]t|use)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GuidanceShard:
    """Keeps a turn's text as it was said; it belongs to the user, or to the session where no user is known."""

    source_turn_id: str
    session: str
    user: str
    ts: float
    text: str

    @property
    def scope(self) -> str:
        return "user" if self.user else "session"


def stability_weight(role: str, promoted_gating: float | None = None) -> float:
    """Weighs a turn by its speaker; a promoted one weighs at least as much as an ordinary user turn."""
    if promoted_gating is not None:
        return max(USER_STABILITY, clamp01(promoted_gating))
    return _STABILITY_OF_ROLE.get(role, _OTHER_STABILITY)


def has_hint(text: str) -> bool:
    return _HINT.search(text) is not None


def is_guidance(text: str, stability: float, deontic_mask: int, prototype_cosine: float) -> bool:
    """Decides from the rule detector's `deontic_mask` and the best cosine with a prototype, 0 where embedding failed.

    The detector alone decides where it fires, so a failing embedder cannot lose what it found.
    """
    if deontic_mask:
        return number_or(stability, 0.0) >= STABILITY
    return has_hint(text) and number_or(prototype_cosine, 0.0) >= PROTOTYPE_COSINE


def make_shard(turn: Turn, session: str) -> GuidanceShard:
    return GuidanceShard(source_turn_id=turn.id, session=session, user=turn.user, ts=turn.ts, text=turn.text)
