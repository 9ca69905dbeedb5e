"""From lists of hits to the candidates that are kept: shortlist, session priors, stand-ins, fading."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.memory.ranking.candidate import Kind
from lithify.memory.ranking.duplicates import drop_stand_ins
from lithify.memory.ranking.fusion import relative_scores, shortlist
from lithify.memory.ranking.passages import session_priors
from lithify.memory.ranking.scoring import HybridScored, fade_older
from tests.unit.memory.candidate_samples import candidate

DAY_S = 86_400.0


def test_a_record_good_in_both_lists_beats_the_best_of_one() -> None:
    assert shortlist({"a": 0.8, "b": 0.6}, {"b": 9.0, "c": 12.0}, 3) == ["b", "a", "c"]


def test_ties_go_by_id_and_the_size_is_kept() -> None:
    assert shortlist({"b": 1.0, "a": 1.0, "c": 0.5}, {}, 2) == ["a", "b"]
    assert shortlist({}, {}, 2) == []


def test_scores_are_relative_to_the_best_of_their_list() -> None:
    assert relative_scores({"a": 4.0, "b": -1.0}) == {"a": 1.0, "b": 0.0}


def test_the_best_passage_vouches_for_its_session() -> None:
    priors = session_priors(np.array([0.2, 0.8, 0.4, 0.9]), ["s", "s", "t", None])
    assert priors == pytest.approx([1.0, 1.0, 0.5, None])


def test_a_list_without_sessions_has_no_priors() -> None:
    assert session_priors(np.array([0.5]), [None]) == [None]
    assert session_priors(np.array([]), []) == []


def test_a_summary_gives_way_to_the_turns_it_covers() -> None:
    turn = replace(candidate("turn"), source_turn="e1")
    summary, other = candidate("summary", kind=Kind.SUMMARY), candidate("other", kind=Kind.SUMMARY)
    covered = {"summary": ("e0", "e1"), "other": ("e7",)}
    assert drop_stand_ins([summary, turn, other], covered) == [turn, other]
    assert drop_stand_ins([summary, other], covered) == [summary, other]


def test_the_durable_copy_of_a_turn_does_not_replace_its_summary() -> None:
    copy = replace(candidate("copy", kind=Kind.MEMORY), source_turn="e1")
    summary = candidate("summary", kind=Kind.SUMMARY)
    assert drop_stand_ins([copy, summary], {"summary": ("e1",)}) == [copy, summary]


def scored(name: str, score: float, age_days: float | None) -> HybridScored:
    age_s = None if age_days is None else age_days * DAY_S
    return HybridScored(candidate(name, age_s=age_s), score, 0.0, 0.0, 1.0, score)


def test_scores_halve_with_every_half_life_behind_the_newest() -> None:
    rows = fade_older([scored("old", 0.8, 70.0), scored("new", 0.3, 10.0), scored("timeless", 0.25, None)], 30.0)
    assert [(row.candidate.id, row.score) for row in rows] == [
        ("new", 0.3),
        ("timeless", 0.25),
        ("old", pytest.approx(0.2)),
    ]


def test_nothing_fades_without_a_half_life_or_without_times() -> None:
    rows = [scored("a", 0.8, 70.0), scored("b", 0.3, 0.0)]
    assert fade_older(rows, None) == rows
    assert fade_older([scored("c", 0.8, None)], 30.0) == [scored("c", 0.8, None)]
    assert fade_older([], 30.0) == []
