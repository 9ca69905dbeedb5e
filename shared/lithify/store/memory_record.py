"""One record of the collection `memories`, as dataclass inside and as payload in the store."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Final, Self, get_args, get_origin, get_type_hints

from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store.records import join_parts
from lithify.store.where import Where

COLLECTION: Final = "memories"

EXPLICIT: Final = "explicit"
"""Provenance of what a host wrote by itself."""

PIECE: Final = "piece"
"""Kind of the records that a long text is found by; a piece is no memory of its own."""

WITHOUT_PIECES: Final = Where().differs("kind", PIECE)
"""Whatever counts or shows memories leaves pieces out."""

LISTS: Final = (MISSING_TIERS, "claims", "mentions", "source_ids", "hop_targets")


# Nobody changes one, but it is not frozen: a hundred are made for each answer, and freezing takes five times as long.
@dataclass(slots=True, unsafe_hash=True)
class MemoryRecord:
    """A turn, durable memory, summary, authored node or guidance shard, or a piece of one; times in milliseconds."""

    tenant: str
    user: str
    kind: str
    scope: str
    text: str
    ts: int
    session: str | None = None
    event_id: str | None = None
    role: str | None = None
    seq: int | None = None
    agent: str | None = None
    bundle_id: str | None = None
    reply_to: str | None = None
    source_kind: str | None = None
    source_ref: str | None = None
    meta: Mapping[str, Any] | None = None
    token_estimate: int = 0
    anchors: float = 0.0  # A(d) of spec 09, the same for every query
    stability: float = 0.0
    active: bool = True  # false once compacted; the raw turn stays
    compacted_into: str | None = None
    provenance: str | None = None
    embedding: str | None = None  # fingerprint of the model that made the vectors
    missing_tiers: tuple[str, ...] = ()  # vectors still to be made; backfill looks for these
    position: str | None = None  # see `position_of`
    gating_score: float | None = None  # a user turn's, once the gate has seen it
    mentions: tuple[str, ...] = ()  # durable memory: event ids of the turns that said the same
    source_ids: tuple[str, ...] = ()  # summary: event ids of the turns it covers, in their order
    method: str | None = None  # summary: how it was written
    confidence: float | None = None  # summary
    decay_rate: float = 0.0  # summary: 1 - confidence
    lineage: Mapping[str, Any] | None = None  # summary: what it was made from, spec 05 §9
    authority: float | None = None  # authored node: 1 in a core document, 0 in a standard one
    authored_tier: str | None = None  # authored node: hard, soft or variant; only the last is searched
    claims: tuple[str, ...] = ()  # attributes that it states a value of, see memory/updates
    superseded_by: str | None = None  # id of the memory that says the same anew
    superseded_by_turn: str | None = None  # event id of that memory, which its copies share
    supersedes: str | None = None  # id of the memory it was said to replace
    general: bool | None = None  # guidance: whether it bears on every question
    hop_targets: tuple[str, ...] = ()  # authored node: ids of records it leads to
    divided: bool | None = None  # long turn or explicit memory: true if it is found by its pieces, too
    piece: int | None = None  # piece: its number within its parent, from 0
    parent: str | None = None  # piece: id of the record whose text it is cut from
    # When what it says was accepted, in ms of Redis's clock, of a summary the earliest of its turns; forgetting
    # goes by it.
    accepted: int | None = None

    def payload(self) -> dict[str, Any]:
        """Returns the payload.

        Empty lists are left out: the engines count an absent field and an empty list as the same.
        """
        written = {name: value for name, value in asdict(self).items() if value is not None and name not in LISTS}
        return written | {name: list(value) for name in LISTS if (value := getattr(self, name))}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any]) -> Self:
        """Reads a payload. Unknown keys are left alone: a newer release may have written them."""
        known = {name: value for name, value in payload.items() if name in NAMES}
        # Most records have no list at all, and a hundred are read for each answer.
        for name in LISTED & known.keys():
            known[name] = tuple(known[name])
        return cls(**known)


LISTED: Final = frozenset(LISTS)
NAMES: Final = frozenset(field.name for field in fields(MemoryRecord))


# What a value of each field is once it comes back from JSON; bool is an int to Python, hence by the very type.
_JSON_TYPES: Final = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    tuple: (list, tuple),
    Mapping: (dict,),
    NoneType: (NoneType,),
}


def _json_types(hint: Any) -> frozenset[type]:
    options = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    return frozenset(kind for option in options for kind in _JSON_TYPES[get_origin(option) or option])


SEQUENCES: Final = frozenset({list, tuple})
ANYTHING: Final = frozenset(kind for kinds in _JSON_TYPES.values() for kind in kinds)
TYPES: Final = {name: _json_types(hint) for name, hint in get_type_hints(MemoryRecord).items()}
SCOPES: Final = frozenset({"session", "user", "global"})
REQUIRED: Final = frozenset(field.name for field in fields(MemoryRecord) if field.default is MISSING)


def find_unreadable(payload: Mapping[str, Any], *, whole: bool = True) -> str | None:
    """Names a field that is not what it should be, or is missing where the payload is `whole`; None if all are fine."""
    # A hundred are looked at for each answer.
    for name, value in payload.items():
        kind = type(value)
        if kind not in TYPES.get(name, ANYTHING):
            return name
        if kind in SEQUENCES and name in LISTED and not all(type(item) is str for item in value):
            return name
    if payload.get("scope", "user") not in SCOPES:
        return "scope"
    return next((name for name in REQUIRED if name not in payload), None) if whole else None


def has_pieces(kind: str, provenance: str | None) -> bool:
    """Says whether a long record of this sort is divided.

    Copies of a turn are not: its own pieces find it.
    """
    return kind == "turn" or (kind == "memory" and provenance == EXPLICIT)


def position_of(user: str, session: str, seq: int) -> str:
    """Returns where in a session a turn stands, as one indexed keyword: the turns around it are found by theirs."""
    return join_parts(user, session, str(seq))
