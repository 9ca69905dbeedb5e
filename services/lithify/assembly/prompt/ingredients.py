"""What one assembly is made of: all that was read for it, and the conditions under which it is composed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lithify.assembly.prompt.token_counter import ESTIMATOR, PromptCounter
from lithify.assembly.recall.summaries import TurnSummary
from lithify.authored import Rule
from lithify.memory.ranking.candidate import Candidate
from lithify.memory.ranking.profile import Profile
from lithify.memory.turn import Turn

Order = Literal["time", "score"]


@dataclass(frozen=True, slots=True)
class Ingredients:
    """All that was read for one assembly."""

    query: str
    turns: Sequence[Turn] = ()  # of the session, those the host shows itself left out
    hard: Sequence[Rule] = ()
    soft: Sequence[Rule] = ()
    candidates: Sequence[Candidate] = ()
    sources: Mapping[str, str] = field(default_factory=dict)  # record id -> where it was said
    max_access: float = 0.0
    session: str | None = None  # in which it is asked
    general: Sequence[Candidate] = ()  # instructions that bear on every question, newest first
    summaries: Sequence[TurnSummary] = ()  # of candidates, to stand for those without room
    user: str = ""  # who is asking


@dataclass(frozen=True, slots=True)
class Terms:
    """The conditions of one assembly: equal ingredients and terms give equal text."""

    tau: float
    profile: Profile
    now_ms: int
    counter: PromptCounter = ESTIMATOR
    order: Order = "time"  # in which what was recalled is shown
    floor: float | None = None  # least chance to help that a memory needs
    is_strict: bool = False  # whether nothing below that floor may be shown, as a host that names one means
