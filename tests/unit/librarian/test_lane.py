"""The lane speaks up when something became worse, and at no other time (spec 10, property 13)."""

from collections.abc import Iterable
from typing import Any

from lithify.librarian.lane import find_regressions


def told(hits: Iterable[str], misses: Iterable[str] = (), important: Iterable[str] = ()) -> dict[str, Any]:
    return {"fused": {"hits": list(hits), "all_misses": list(misses), "important_misses": list(important)}}


def test_an_unchanged_corpus_gives_no_notice() -> None:
    assert find_regressions(told("ab", "c", "c"), told("ab", "c", "c")) == []


def test_a_question_that_stops_hitting_gives_one() -> None:
    [reason] = find_regressions(told("ab"), told("a", "b"))
    assert reason.startswith("regression: 'b'")


def test_an_improvement_alone_gives_none() -> None:
    assert find_regressions(told("a", "b", "b"), told("ab")) == []


def test_a_regression_beside_an_improvement_is_told() -> None:
    assert len(find_regressions(told("a", "b"), told("b", "a"))) == 1


def test_a_new_important_miss_is_told_once() -> None:
    [reason] = find_regressions(told("a"), told("a", "n", "n"))
    assert reason.startswith("miss: the important question 'n'")
    assert find_regressions(told("a", "n", "n"), told("a", "n", "n")) == []


def test_a_lost_important_question_is_told_once_and_not_twice() -> None:
    assert len(find_regressions(told("a"), told("", "a", "a"))) == 1


def test_the_first_run_tells_important_misses_only() -> None:
    assert find_regressions(None, told("", "ab", "a")) == [
        "miss: the important question 'a' does not find its document"
    ]


def test_a_question_that_was_taken_out_is_no_loss() -> None:
    assert find_regressions(told("ab"), told("a")) == []


def test_a_run_without_questions_says_nothing() -> None:
    assert find_regressions(told("a"), None) == []
