"""A memory that competes for the prompt: what ranking needs to know of it, read once and then trusted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lithify.memory.bounds import is_number, number_or
from lithify.memory.ranking.scope import Scope


class Kind(StrEnum):
    TURN = "turn"
    MEMORY = "memory"
    SUMMARY = "summary"
    AUTHORED = "authored"
    GUIDANCE = "guidance"


_KINDS = {kind.value: kind for kind in Kind}


# Nobody changes one, but it is not frozen: a hundred are made for each answer, and freezing takes five times as long.
@dataclass(slots=True, unsafe_hash=True)
class Candidate:
    """The signals, from `dense` to `dated`, are those of the query at hand; the rest belongs to the record.

    `dense` is a cosine in [-1, 1] or one spread over [0, 1], the other signals lie in [0, 1]. None is a signal this
    record cannot have.
    """

    id: str
    collection: str
    text: str
    scope: Scope
    kind: Kind
    dense: float = 0.0
    lexical: float = 0.0
    neighbours: float = 0.0  # how much of `lexical` the turns around it lent; for the receipt, it has no weight
    session_prior: float | None = None
    speaker: float = 0.0
    statement: float = 0.0
    reply: float | None = None
    substance: float = 0.0
    dated: float = 0.0
    role: str | None = None
    ts: float | None = None  # milliseconds
    decay_rate: float = 0.0
    access_count: float = 0.0
    authority: float | None = None
    anchors: float = 0.0  # A(d), spec 09 §2
    source_turn: str | None = None  # the same for the session copy and the durable copy of one turn
    hop_targets: tuple[str, ...] = ()
    terms: frozenset[str] | None = None  # the words of the text where a cache knows them already


@dataclass(slots=True, unsafe_hash=True)
class Signals:
    """What the search found out about one record; see `Candidate`."""

    dense: float = 0.0
    lexical: float = 0.0
    neighbours: float = 0.0
    session_prior: float | None = None
    speaker: float = 0.0
    statement: float = 0.0
    reply: float | None = None
    substance: float = 0.0
    dated: float = 0.0


def names_of(candidates: Sequence[Candidate]) -> Callable[[int], tuple[str, str]]:
    """The (collection, id) of a position, by which ties are broken."""
    return lambda position: (candidates[position].collection, candidates[position].id)


def read_candidate(
    record_id: str, collection: str, scope: Scope, payload: Mapping[str, object], signals: Signals
) -> Candidate:
    """A candidate from stored metadata; metadata of the wrong type counts as absent (spec 02 §5).

    Signals are taken as they are: what is not finite stops in `relevance`.
    """
    return Candidate(
        id=record_id,
        collection=collection,
        text=_text(payload.get("text")) or "",
        scope=scope,
        kind=_kind(payload.get("kind")),
        dense=signals.dense,
        lexical=signals.lexical,
        neighbours=signals.neighbours,
        session_prior=signals.session_prior,
        speaker=signals.speaker,
        statement=signals.statement,
        reply=signals.reply,
        substance=signals.substance,
        dated=signals.dated,
        role=_text(payload.get("role")),
        ts=_number(payload.get("ts")),
        decay_rate=number_or(payload.get("decay_rate"), 0.0),
        access_count=number_or(payload.get("access_count"), 0.0),
        authority=_number(payload.get("authority")),
        anchors=number_or(payload.get("anchors"), 0.0),
        source_turn=_text(payload.get("source_turn")),
        hop_targets=_texts(payload.get("hop_targets")),
    )


def _number(value: object) -> float | None:
    return number_or(value, 0.0) if value is not None and is_number(value) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, map(_text, value))) if isinstance(value, list | tuple) else ()


def _kind(value: object) -> Kind:
    """An unknown kind is an ordinary turn: it earns neither authorship nor a summary's discount."""
    return _KINDS.get(value, Kind.TURN) if isinstance(value, str) else Kind.TURN
