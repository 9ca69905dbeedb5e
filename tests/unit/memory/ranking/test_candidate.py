"""Candidates read from stored metadata (spec 02 §5)."""

import math
from dataclasses import dataclass

from lithify.memory.ranking.candidate import Candidate, Kind, Scope, read_candidate
from lithify.memory.ranking.relevance import Signals


@dataclass(frozen=True)
class Stored:
    """Metadata of a record as anybody may have written them."""

    text: object = None
    kind: object = None
    role: object = None
    ts: object = None
    decay_rate: object = None
    authority: object = None
    anchors: object = None
    event_id: object = None
    hop_targets: object = None
    session: object = None
    seq: object = None
    lineage: object = None
    superseded_by: object = None
    superseded_by_turn: object = None


def test_stored_metadata_of_the_wrong_type_counts_as_absent() -> None:
    wrong = Stored(
        text=5,
        kind="poem",
        ts="yesterday",
        decay_rate=[0.5],
        authority="high",
        anchors=math.nan,
        event_id="",
        hop_targets="r1",
        session=3,
        seq="first",
        lineage=["source_ts_min"],
        superseded_by=7,
        superseded_by_turn=["t"],
    )
    plain = Candidate("r", "", Scope.USER, Kind.TURN)
    assert read_candidate("r", Scope.USER, wrong, Signals()) == plain
    assert read_candidate("r", Scope.USER, Stored(kind=7), Signals()) == plain


def test_stored_metadata_is_read() -> None:
    stored = Stored(
        text="hello",
        kind="summary",
        role="assistant",
        ts=5,
        decay_rate=0.25,
        authority=0.5,
        anchors=1,
        event_id="t1",
        hop_targets=["a", 7, "", "b"],
        session="s1",
        seq=3,
        lineage={"source_ts_min": 2.0},
    )
    memory = read_candidate("r", Scope.SESSION, stored, Signals(dense=0.1, session=0.4))
    assert memory == Candidate(
        id="r",
        text="hello",
        scope=Scope.SESSION,
        kind=Kind.SUMMARY,
        signals=Signals(dense=0.1, session=0.4),
        role="assistant",
        ts=5.0,
        decay_rate=0.25,
        authority=0.5,
        anchors=1.0,
        source_turn="t1",
        hop_targets=("a", "b"),
        session="s1",
        seq=3.0,
        since=2.0,
    )
