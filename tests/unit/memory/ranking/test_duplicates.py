"""One copy of every memory (spec 08), and varied lists (spec 10 §8)."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.ranking.candidate import Kind, Scope
from lithify.memory.ranking.duplicates import (
    COMPARED_CHARS,
    MOST_VARIED,
    Passage,
    distinct_turns,
    diversify,
    drop_shown,
    drop_stand_ins,
    relative_relevance,
)
from lithify.memory.ranking.scoring import Scored
from tests.unit.memory.candidate_samples import candidate


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


def found(name: str, score: float, *targets: str, source_turn: str | None = None) -> Scored:
    memory = candidate(name, score, hop_targets=targets, source_turn=source_turn)
    return Scored(memory, score, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, score)


def test_the_same_turn_is_kept_once_by_its_better_copy() -> None:
    """spec 08.15"""
    session = found("session-copy", 0.4, source_turn="t1")
    durable = found("durable-copy", 0.6, source_turn="t1")
    other, summary = found("other", 0.5, source_turn="t2"), found("summary", 0.3)
    ranked = sorted([session, durable, other, summary], key=lambda row: -row.score)
    assert [row.candidate.id for row in distinct_turns(ranked)] == ["durable-copy", "other", "summary"]


def test_a_record_named_like_a_turn_is_not_a_copy_of_it() -> None:
    rows = [found("r1", 0.4, source_turn="alike"), found("alike", 0.3)]
    assert distinct_turns(rows) == rows


def test_what_is_shown_anyway_is_no_candidate() -> None:
    tail, copy = candidate("t1"), candidate("durable", source_turn="t1", scope=Scope.USER)
    host, other = candidate("h9"), candidate("other", source_turn="t7")
    assert drop_shown([tail, copy, host, other], {"t1", "h9"}, {"t1"}) == [other]
    assert drop_shown([candidate("plain")], (), ()) == [candidate("plain")]


BACKUPS = [
    Passage("1", "Rotated backup tapes", 0.95),
    Passage("2", "Rotated backup tapes", 0.93),
    Passage("3", "Rotated backup tapes", 0.91),
    Passage("4", "Renewed TLS certificate", 0.85),
    Passage("5", "Offsite backup plan", 0.82),
]


short_texts = st.text("ab ", max_size=6)


passages = st.lists(st.builds(Passage, st.uuids().map(str), short_texts, st.floats(0.0, 1.0)), max_size=8)


def test_diversity_of_the_worked_passages() -> None:
    """spec 10.9"""
    picks = diversify(BACKUPS, limit=5)
    assert [pick.key for pick in picks] == ["1", "4", "5", "2", "3"]
    assert [pick.value for pick in picks] == pytest.approx([0.665, 0.595, 0.514, 0.351, 0.337], abs=1e-6)


def test_full_weight_on_relevance_keeps_the_input_order() -> None:
    """spec 10.9"""
    assert [pick.key for pick in diversify(BACKUPS, limit=5, share=1.0)] == ["1", "2", "3", "4", "5"]


def test_ties_keep_the_input_order() -> None:
    equal = [Passage(key, key, 0.5) for key in ("z", "a", "m")]
    assert [pick.key for pick in diversify(equal, limit=3)] == ["z", "a", "m"]


def test_picking_ends_at_the_limit_or_below_the_stop() -> None:
    assert [pick.key for pick in diversify(BACKUPS, limit=2)] == ["1", "4"]
    assert [pick.key for pick in diversify(BACKUPS, limit=5, stop=0.4)] == ["1", "4", "5"]
    assert diversify(BACKUPS, limit=0) == ()


def test_relevance_is_measured_against_the_best_of_the_list() -> None:
    assert relative_relevance([0.4, 0.2, 0.0]) == (1.0, 0.5, 0.0)
    assert relative_relevance([]) == ()
    assert relative_relevance([0.0, -1.0, float("nan")]) == (0.0, 0.0, 0.0)


def test_empty_texts_share_nothing() -> None:
    picks = diversify([Passage("1", "", 1.0), Passage("2", "", 0.5)], limit=2, share=0.5)
    assert [pick.value for pick in picks] == pytest.approx([0.5, 0.25])


def test_texts_are_alike_by_the_share_of_their_common_words() -> None:
    picks = diversify([Passage("1", "a b", 1.0), Passage("2", "B, c", 1.0)], limit=2, share=0.5)
    assert picks[1].value == pytest.approx(0.5 - 0.5 / 3)


def test_only_the_best_compete_for_variety() -> None:
    many = [Passage(str(number), "the same words", 1.0) for number in range(MOST_VARIED)]
    picks = diversify([*many, Passage("other", "something else", 1.0)], limit=5)
    assert "other" not in [pick.key for pick in picks]
    assert len(diversify([*many, *many], limit=10_000)) == MOST_VARIED


def test_the_end_of_a_very_long_text_does_not_count() -> None:
    long = "word    " * COMPARED_CHARS
    picks = diversify([Passage("1", "word", 1.0), Passage("2", f"{long} end", 1.0)], limit=2, share=0.5)
    assert picks[1].value == pytest.approx(0.0)


def pick_plainly(items: list[Passage], limit: int, share: float) -> list[tuple[str, float]]:
    """The definition of spec 10 §8, word for word."""
    words = {item.key: set(item.text.split()) for item in items}
    picked: list[tuple[str, float]] = []
    while len(picked) < min(limit, len(items)):
        values = {}
        for item in items:
            own = words[item.key]
            near = (len(own & words[key]) / max(len(own | words[key]), 1) for key, _ in picked)
            values[item.key] = share * item.relevance - (1.0 - share) * max(near, default=0.0)
        for key, _ in picked:
            del values[key]
        best = max(values, key=values.__getitem__)
        picked.append((best, values[best]))
    return picked


@settings(max_examples=200, deadline=None)
@given(passages, st.floats(0.0, 1.0))
def test_variety_is_that_of_its_definition(items: list[Passage], share: float) -> None:
    picks = diversify(items, limit=4, share=share)
    plain = pick_plainly(items, 4, share)
    assert [pick.value for pick in picks] == pytest.approx([value for _, value in plain])


@settings(max_examples=200, deadline=None)
@given(passages, st.floats())
def test_all_passages_are_kept_once_and_values_only_fall(items: list[Passage], share: float) -> None:
    picks = diversify(items, limit=len(items), share=share)
    values = [pick.value for pick in picks]
    assert sorted(pick.key for pick in picks) == sorted(item.key for item in items)
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
    assert all(-1.0 <= value <= 1.0 for value in values)
