"""Which dated memories are searched for, and which of them are taken."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.assembly.recall.dated import DatedSearch, dated_queries, pick_dated, wanted_dates
from lithify.memory.ranking.profile import RECALL, SEED, Profile
from lithify.memory.temporal.anchors import anchor_density
from lithify.store import Hit, Where
from lithify.store.where import Between

ABOUT_TIME = "How many days did I wait to get the visa after mailing the passport?"
TEN = DatedSearch(10, 0.15)


def hit(turn: str, score: float = 0.5) -> Hit:
    return Hit(f"record-{turn}", score, {"kind": "turn", "event_id": turn})


@pytest.mark.parametrize("profile", [SEED, RECALL])
def test_dates_are_wanted_for_questions_about_time_only(profile: Profile) -> None:
    assert wanted_dates(ABOUT_TIME, profile) == DatedSearch(10, 0.15)
    assert wanted_dates("Which visa do I need?", profile) is None
    assert wanted_dates(ABOUT_TIME, replace(profile, recovery_size=0)) is None


@pytest.mark.parametrize(
    "text", ["on 9 April", "on 9 April at 8:15", "on 9 April at 8:15, a Monday", "4/2 5/2 6/2 7/2"]
)
def test_every_density_is_asked_for_once(text: str) -> None:
    queries = dated_queries(Where(), TEN, np.ones(4), 24, places_only=True)
    ranges = [condition for query in queries for condition in query.where.must if isinstance(condition, Between)]
    inside = [
        (low or 0.0) <= anchor_density(text) <= (high or 1.0) for low, high in ((r.lowest, r.highest) for r in ranges)
    ]
    assert inside.count(True) == 1
    assert inside.index(True) == 3 - min(round(anchor_density(text) * 3), 3)


def test_undated_memories_are_not_asked_for() -> None:
    queries = dated_queries(Where(), TEN, np.ones(4), 24, places_only=True)
    assert all(
        condition.lowest for query in queries for condition in query.where.must if isinstance(condition, Between)
    )
    assert {query.least_score for query in queries} == {0.15}


def test_the_best_dated_come_first_without_what_was_found() -> None:
    answers = [[hit("three", 0.2)], [hit("found", 0.9), hit("two", 0.3)], [hit("one", 0.8), hit("one", 0.7)]]
    picked = pick_dated(answers, {(True, "found")}, TEN)
    assert [one.payload["event_id"] for one in picked] == ["three", "two", "one"]
    assert [one.score for one in pick_dated(answers, set(), TEN._replace(size=2))] == [0.2, 0.9]
    assert pick_dated(answers, set(), None) == []
