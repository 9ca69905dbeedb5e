"""A memory that competes for the prompt: what ranking needs to know of it, read once and then trusted.

The scope it is seen from decides its weight and how fast it fades (spec 01 §3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

from lithify.memory.bounds import FloatArray, is_number, number_or
from lithify.memory.ranking.relevance import Signals
from lithify.memory.vectors.background import USUAL_BACKGROUND, Background


class Scope(StrEnum):
    SESSION = "session"
    HISTORY = "history"  # another session of the same user; never searched by profile `seed`
    USER = "user"  # durable memory
    GLOBAL = "global"


class PerScope(NamedTuple):
    """It holds one number for each scope."""

    session: float
    history: float
    user: float
    shared: float

    def of(self, scope: Scope) -> float:
        return self[_POSITIONS[scope]]


_POSITIONS = {Scope.SESSION: 0, Scope.HISTORY: 1, Scope.USER: 2, Scope.GLOBAL: 3}

# The sources know three scopes: whatever is the user's and not of this session counts as durable memory (spec 01 §3).
SCOPE_WEIGHTS = PerScope(session=1.0, history=0.6, user=0.6, shared=0.3)
SCOPE_RATES = PerScope(session=1e-4, history=1e-5, user=1e-5, shared=2e-6)  # λ_s per second
# With a scope of its own, history lies between session and durable memory in both rows.
FOUR_SCOPE_WEIGHTS = SCOPE_WEIGHTS._replace(history=0.8)
FOUR_SCOPE_RATES = SCOPE_RATES._replace(history=3e-5)


class Kind(StrEnum):
    TURN = "turn"
    MEMORY = "memory"
    SUMMARY = "summary"
    AUTHORED = "authored"
    GUIDANCE = "guidance"


_KINDS = {kind.value: kind for kind in Kind}


class Imprint(NamedTuple):
    """What a record says, as it is compared with what another says."""

    vector: FloatArray | None  # its meaning
    words: frozenset[int]  # the dimensions of its words, its date left out
    asked: frozenset[int]  # those of them that the question has
    background: Background = USUAL_BACKGROUND  # the level of the model's cosines


# Not frozen, for the same reason as `Signals`.
@dataclass(slots=True, unsafe_hash=True)
class Candidate:
    """It is a stored record and what the search found out about it for the query at hand."""

    id: str
    text: str
    scope: Scope
    kind: Kind
    signals: Signals = field(default_factory=Signals)
    role: str | None = None
    ts: float | None = None  # milliseconds
    decay_rate: float = 0.0
    access_count: float = 0.0
    authority: float | None = None
    anchors: float = 0.0  # A(d), spec 09 §2
    source_turn: str | None = None  # the same for the session copy and the durable copy of one turn
    hop_targets: tuple[str, ...] = ()
    session: str | None = None
    seq: float | None = None  # position in the session
    since: float | None = None  # of a summary, when the first of its turns was said; milliseconds
    superseded_by: str | None = None  # id of the memory that says the same anew
    successor: str | None = None  # the turn of that memory, which its copies share
    excerpt: str | None = None  # of a long one, the piece that answers best
    imprint: Imprint | None = field(default=None, compare=False, repr=False)  # None where only hits were read
    renewed_by: str | None = field(default=None, compare=False)  # id of a newer one that may say the same anew


class StoredMemory(Protocol):
    """The metadata of a stored record that ranking reads, as they were written, of whatever type."""

    @property
    def text(self) -> object: ...
    @property
    def kind(self) -> object: ...
    @property
    def role(self) -> object: ...
    @property
    def ts(self) -> object: ...
    @property
    def decay_rate(self) -> object: ...
    @property
    def authority(self) -> object: ...
    @property
    def anchors(self) -> object: ...
    @property
    def event_id(self) -> object:
        """The host's own id of the turn, shared by all copies made of it."""

    @property
    def hop_targets(self) -> object: ...
    @property
    def session(self) -> object: ...
    @property
    def seq(self) -> object: ...
    @property
    def lineage(self) -> object: ...
    @property
    def superseded_by(self) -> object: ...
    @property
    def superseded_by_turn(self) -> object: ...


def read_candidate(record_id: str, scope: Scope, stored: StoredMemory, signals: Signals) -> Candidate:
    """Makes a stored record compete; metadata of the wrong type counts as absent (spec 02 §5).

    Signals are taken as they are: what is not finite stops in `relevance`.
    """
    return Candidate(
        id=record_id,
        text=_text(stored.text) or "",
        scope=scope,
        kind=_kind(stored.kind),
        signals=signals,
        role=_text(stored.role),
        ts=_number(stored.ts),
        decay_rate=number_or(stored.decay_rate, 0.0),
        authority=_number(stored.authority),
        anchors=number_or(stored.anchors, 0.0),
        source_turn=_text(stored.event_id),
        hop_targets=_texts(stored.hop_targets),
        session=_text(stored.session),
        seq=_number(stored.seq),
        since=_first_time(stored.lineage),
        superseded_by=_text(stored.superseded_by),
        successor=_text(stored.superseded_by_turn),
    )


def _number(value: object) -> float | None:
    return number_or(value, 0.0) if value is not None and is_number(value) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, value))) if isinstance(value, list | tuple) else ()


def _first_time(lineage: object) -> float | None:
    return _number(lineage.get("source_ts_min")) if isinstance(lineage, Mapping) else None


def _kind(value: object) -> Kind:
    """Takes an unknown kind for an ordinary turn, which earns neither authorship nor a summary's discount."""
    return _KINDS.get(value, Kind.TURN) if isinstance(value, str) else Kind.TURN
