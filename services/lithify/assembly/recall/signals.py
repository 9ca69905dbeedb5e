"""Turns what was fetched for a question into the signals of each record: pure functions of records and question."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from lithify.assembly.recall.evidence import Column, Judge, Material, judge_records
from lithify.memory.bounds import BoolArray, FloatArray
from lithify.memory.lexical.analyser import date_dimensions
from lithify.memory.ranking.candidate import Imprint
from lithify.memory.ranking.cues import (
    asks_how_many,
    asks_something,
    asks_when,
    name_words,
    names_number,
    role_shares,
    statement_share,
    substance,
)
from lithify.memory.ranking.fusion import relative_scores
from lithify.memory.ranking.helpfulness import MemoryEvidence
from lithify.memory.ranking.passages import (
    Neighbours,
    Place,
    Window,
    find_neighbours,
    passage_cosines,
    passage_words,
    rarity,
    session_priors,
    spread_cosines,
)
from lithify.memory.ranking.relevance import Signals, scale_by_maximum, signals_from_columns, tell_kind
from lithify.memory.ranking.second_hop import link_by_names
from lithify.memory.ranking.speakers import find_speakers
from lithify.memory.vectors.background import USUAL_BACKGROUND, Background
from lithify.memory.vectors.tiers import FULL_TIER
from lithify.store import Record, Vector
from lithify.store.memory_record import MemoryRecord

PREVIOUS: Final = Window(before=(1.0,))


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """A question as passages are compared with it."""

    text: str
    words: Sequence[int]  # the dimensions of its words in lexical vectors
    vector: Vector | None  # None if the model could not be asked
    background: Background = USUAL_BACKGROUND  # of the model
    is_foreign: bool = False  # whether it is in a language that the model does not read


def bare_signals(dense: Mapping[str, float], lexical: Mapping[str, float], *, by_best: bool) -> dict[str, Signals]:
    """Returns what the legs say of each record by itself; cosines relative to the best of them, or as they are.

    It is its own passage.
    """
    meaning = relative_scores(dense) if by_best else dense
    words = relative_scores(lexical)
    own = {key: (meaning.get(key, 0.0), words.get(key, 0.0)) for key in {**meaning, **words}}
    return {key: Signals(*parts, *parts) for key, parts in own.items()}


def judge_bare(
    words: Sequence[int],
    texts: Sequence[Sequence[int]],
    signals: Mapping[str, Signals],
    cosines: Mapping[str, float],
    *,
    core: Container[str],
    judge: Judge,
) -> MemoryEvidence | None:
    """Adds the absolute signals of records that are judged alone; `texts` are the dimensions of their words."""
    held = [frozenset(text) for text in texts]
    weights = np.array([[float(word in text) for text in held] for word in words]).reshape(len(words), len(held))
    near = np.array([cosines.get(key, 0.0) for key in signals])
    in_core = np.array([key in core for key in signals], dtype=np.bool_)
    judgement = judge_records(Material(weights, near, in_core), [], judge)
    for name, column in judgement.columns.items():
        for found, value in zip(signals.values(), column, strict=True):
            setattr(found, name, value)
    return judgement.memory


@dataclass(frozen=True, slots=True)
class PassageTable:
    """Holds what was read of the records at hand, in their order, and what each says by itself."""

    ids: Sequence[str]
    places: Sequence[Place | None]
    around: Neighbours
    said: FloatArray  # a row for each word of the question
    vectors: FloatArray | None  # a row for each record; None if the question could not be embedded
    own: "OwnParts"


@dataclass(frozen=True, slots=True)
class OwnParts:
    """Holds what the records at hand say by themselves, long ones by the best of their pieces that were found."""

    cosines: FloatArray
    words: FloatArray  # BM25 among the records at hand
    said: FloatArray  # a row for each word of the question; of a long record, those of one piece
    excerpts: Mapping[str, str]  # the best piece of a record, by the record's id


class PassageSignals(NamedTuple):
    """Holds the signals of records by their ids, what the memory shows of the question, and the best pieces."""

    signals: dict[str, Signals]
    evidence: MemoryEvidence | None
    excerpts: Mapping[str, str]


def passage_signals(
    query: PassageQuery,
    records: Sequence[Record],
    memories: Sequence[MemoryRecord],
    window: Window,
    *,
    pieces: Sequence[Record] = (),
    in_core: BoolArray,
    judge: Judge | None,
) -> PassageSignals:
    """Returns the signals of records that are ranked together with those among them that stand around them.

    How probable it is that a record helps is read from itself and the core; what the memory shows is told besides.
    """
    places = [place_of(memory) for memory in memories]
    said = word_weights(query.words, records)
    vectors = stored_vectors(query, records)
    own = read_own_parts(query, records, memories, pieces, said, vectors)
    ids = [record.id for record in records]
    table = PassageTable(ids, places, find_neighbours(places, window), said, vectors, own)
    judgement = judge_records(Material(own.said, own.cosines, in_core), table.around, judge)
    signals = signals_from_columns(passage_columns(query, table, memories) | judgement.columns)
    by_id = dict(zip(ids, signals, strict=True))
    return PassageSignals(by_id, judgement.memory, own.excerpts)


def read_own_parts(
    query: PassageQuery,
    records: Sequence[Record],
    memories: Sequence[MemoryRecord],
    pieces: Sequence[Record],
    said: FloatArray,
    vectors: FloatArray | None,
) -> OwnParts:
    """Reads what each record says by itself. A long one none of whose pieces was found has no words of its own."""
    inverse = rarity(said)[:, None]
    cosines = passage_meaning(query, vectors, [], len(records))
    is_divided = np.array([bool(memory.divided) for memory in memories], dtype=np.bool_)
    own_said = np.where(is_divided, 0.0, said)
    words = (own_said * inverse).sum(axis=0)
    if not pieces:
        return OwnParts(cosines, words, own_said, {})
    cut_said = word_weights(query.words, pieces)
    cut_words = (cut_said * inverse).sum(axis=0)
    cut_cosines = passage_meaning(query, stored_vectors(query, pieces), [], len(pieces))
    merit = scale_by_maximum(cut_cosines) + scale_by_maximum(cut_words)
    rows = {record.id: row for row, record in enumerate(records)}
    excerpts: dict[str, str] = {}
    # From the weakest to the best, so that the best has the last word where there can be one only.
    for column in np.argsort(merit, kind="stable").tolist():
        parent = str(pieces[column].payload["parent"])
        row = rows.get(parent)
        if row is None:
            continue
        is_nearer = parent not in excerpts or cut_cosines[column] > cosines[row]
        cosines[row] = cut_cosines[column] if is_nearer else cosines[row]
        words[row] = max(words[row], cut_words[column])
        own_said[:, row] = cut_said[:, column]
        excerpts[parent] = str(pieces[column].payload["text"])
    return OwnParts(cosines, words, own_said, excerpts)


def passage_columns(query: PassageQuery, table: PassageTable, memories: Sequence[MemoryRecord]) -> dict[str, Column]:
    """Returns one column for each of the relative `Signals`, under its name; a value for each record."""
    asking = [asks_something(memory.text) for memory in memories]
    weights = table.said * rarity(table.said)[:, None]
    words = passage_words(weights, table.around)
    lexical = scale_by_maximum(words)
    dense = spread_cosines(passage_meaning(query, table.vectors, table.around, len(memories)))
    lent = lexical - weights.sum(axis=0) / max(float(words.max(initial=0.0)), np.finfo(np.float64).tiny)
    speakers = find_speakers([memory.text for memory in memories])
    spoken = [(m.token_estimate, name is not None) for m, name in zip(memories, speakers, strict=True) if is_turn(m)]
    kind = tell_kind([length for length, _ in spoken], [is_named for _, is_named in spoken])
    shown = [table.own.excerpts.get(name, memory.text) for name, memory in zip(table.ids, memories, strict=True)]
    own_dense = spread_cosines(table.own.cosines)
    own_lexical = scale_by_maximum(table.own.words)
    merits = own_dense + own_lexical + dense + lexical
    return {
        "dense": own_dense.tolist(),
        "lexical": own_lexical.tolist(),
        "passage_dense": dense.tolist(),
        "passage_lexical": lexical.tolist(),
        "neighbours": lent.tolist(),
        "session": session_priors((dense + lexical) / 2.0, [session_of(memory) for memory in memories]),
        "statement": [statement_share(text) for text in shown],
        "reply": replies(table.places, asking),
        "substance": [substance(memory.token_estimate) for memory in memories],
        "dialogue": [kind.dialogue] * len(memories),
        "long_turns": [kind.long_turns] * len(memories),
        "foreign": [float(query.is_foreign)] * len(memories),
        "linked": link_by_names(query.text, [memory.text for memory in memories], merits),
        **cue_columns(query.text, memories, speakers),
    }


def cue_columns(query: str, memories: Sequence[MemoryRecord], speakers: Sequence[str | None]) -> dict[str, Column]:
    """Returns what a question wants of an answer by its form, and which records have it."""
    named = name_words(query)
    roles = role_shares(query)
    when = asks_when(query)
    many = asks_how_many(query)
    return {
        "role": [
            0.0 if speaker else roles.get(memory.role or "", 0.0)
            for memory, speaker in zip(memories, speakers, strict=True)
        ],
        "speaker": [float(speaker is not None and not named.isdisjoint(name_words(speaker))) for speaker in speakers],
        "dated": [float(when and memory.anchors > 0.0) for memory in memories],
        "counted": [float(many and names_number(memory.text)) for memory in memories],
    }


def word_weights(words: Sequence[int], records: Sequence[Record]) -> FloatArray:
    """Returns a row for each word of the question, a column for each record."""
    rows = {word: row for row, word in enumerate(words)}
    table = np.zeros((len(words), len(records)))
    for column, record in enumerate(records):
        for word, weight in record.lexical.items if record.lexical else ():
            if word in rows:
                table[rows[word], column] = weight
    return table


def stored_vectors(query: PassageQuery, records: Sequence[Record]) -> FloatArray | None:
    """Returns a row for each record; one without its vector is seen through its neighbours' alone."""
    if query.vector is None or not records:
        return None
    nothing = np.zeros(len(query.vector))
    return np.array([record.vectors.get(FULL_TIER, nothing) for record in records], dtype=np.float64)


def passage_meaning(query: PassageQuery, vectors: FloatArray | None, around: Neighbours, records: int) -> FloatArray:
    """Returns the cosine of each record with what stands around it; 0 where the question could not be embedded."""
    if query.vector is None or vectors is None:
        return np.zeros(records)
    return passage_cosines(vectors, query.vector, around)


def replies(places: Sequence[Place | None], asking: Sequence[bool]) -> list[float | None]:
    """Returns 1 where the turn before asks something; None for what is no turn."""
    [(_, previous)] = find_neighbours(places, PREVIOUS)
    answered = [*map(float, asking), 0.0]
    return [None if place is None else answered[turn] for place, turn in zip(places, previous.tolist(), strict=True)]


def make_imprint(query: PassageQuery, record: Record) -> Imprint:
    """Returns what the record says, as other records are compared with it; its date is no part of that."""
    words = frozenset(record.lexical.indices if record.lexical else ()) - date_dimensions()
    vector = record.vectors.get(FULL_TIER)
    meaning = None if vector is None else np.asarray(vector, dtype=np.float64)
    return Imprint(meaning, words, words.intersection(query.words), query.background)


def is_turn(memory: MemoryRecord) -> bool:
    return memory.kind == "turn"


def place_of(memory: MemoryRecord) -> Place | None:
    if memory.kind != "turn" or memory.session is None or memory.seq is None:
        return None
    return memory.user, memory.session, memory.seq


def session_of(memory: MemoryRecord) -> tuple[str, str] | None:
    """Names a record's session with its user: two users may name theirs alike."""
    return None if memory.session is None else (memory.user, memory.session)
