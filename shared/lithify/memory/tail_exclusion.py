"""Keeps what the prompt already shows out of recall, under every id it is stored with (spec 07 §5)."""

from collections.abc import Sequence
from dataclasses import dataclass

from lithify.memory.tail import Tail

HOST_VISIBLE_MESSAGES = 4


@dataclass(frozen=True, slots=True)
class TailExclusion:
    session: str
    turn_ids: frozenset[str]

    def hides(self, record_id: str, source_session: str = "", source_turn_id: str = "") -> bool:
        """A promoted copy has an id of its own, so the turn it came from is compared as well (X42)."""
        if record_id in self.turn_ids:
            return True
        return source_session == self.session and source_turn_id in self.turn_ids


def tail_exclusion(session: str, tail: Tail, host_message_ids: Sequence[str] = ()) -> TailExclusion:
    """Hides the tail and the newest messages the host shows by itself."""
    visible = host_message_ids[-HOST_VISIBLE_MESSAGES:]
    return TailExclusion(session, frozenset(turn.id for turn in tail.recent).union(visible))
