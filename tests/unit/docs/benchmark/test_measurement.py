"""Hit@1, Hit@5 and the hint rate on a fixture whose figures are known (spec 10 §11, property 12)."""

from collections.abc import Mapping, Sequence

import pytest

from lithify.docs.benchmark.measurement import (
    MODES,
    QuestionOutcome,
    ask_all,
    distinct_documents,
    list_misses,
    make_report,
    score_outcomes,
)
from lithify.docs.benchmark.questions import BenchmarkQuestion
from lithify.docs.query import SearchMode


def question(name: str, *expect: str, hint: str | None = None, important: bool = False) -> BenchmarkQuestion:
    return BenchmarkQuestion(id=name, category="some", ask=name, expect=expect, hint=hint, important=important)


FIRST = question("first", "a.md")
FIFTH = question("fifth", "e.md")
SIXTH = question("sixth", "f.md")
HINTED = question("hinted", "h.md", hint="word")
CONTROL = question("control")
ANSWERS: Mapping[str, Sequence[str]] = {
    "first": ["a.md", "b.md"],
    "fifth": ["a.md", "a.md", "b.md", "c.md", "d.md", "e.md"],
    "sixth": ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"],
    "hinted": ["a.md"],
    "hinted word": ["h.md"],
    "control": [],
}
QUESTIONS = (FIRST, FIFTH, SIXTH, HINTED, CONTROL)


async def answer(text: str, _: SearchMode) -> Sequence[str]:
    return ANSWERS[text]


async def test_a_known_fixture_gives_exact_figures() -> None:
    told = make_report(await ask_all(QUESTIONS, answer))
    expected = {"asked": 4, "hit1": 0.25, "hit5": 0.5, "hint_rate": 0.25, "controls": 1, "silent": 1}
    assert [told[mode]["all"] for mode in MODES] == [expected] * 3
    assert told["fused"]["categories"] == {"some": expected}
    assert (told["fused"]["hits"], told["fused"]["all_misses"]) == (["fifth", "first"], ["hinted", "sixth"])


async def test_a_document_less_costs_one_of_the_questions() -> None:
    async def without_first(text: str, mode: SearchMode) -> list[str]:
        return [path for path in await answer(text, mode) if path != "a.md"]

    before = score_outcomes((await ask_all(QUESTIONS, answer))["fused"])
    after = score_outcomes((await ask_all([FIRST], without_first))["fused"])
    both = [*(await ask_all(QUESTIONS[1:], answer))["fused"], *(await ask_all([FIRST], without_first))["fused"]]
    assert after.hit5 == 0.0
    assert before.hit5 - score_outcomes(both).hit5 == pytest.approx(1 / before.asked)


async def test_the_hint_is_asked_only_after_a_miss() -> None:
    asked: list[str] = []

    async def remembering(text: str, mode: SearchMode) -> Sequence[str]:
        asked.append(text)
        return await answer(text, mode)

    await ask_all([FIRST, HINTED], remembering, ["lexical"])
    assert asked == ["first", "hinted", "hinted word"]


def test_pieces_of_one_document_count_once() -> None:
    assert distinct_documents(["a.md", "b.md", "a.md"]) == ("a.md", "b.md")


def test_important_misses_come_first() -> None:
    missed = [QuestionOutcome(question(name, "x.md", important=name == "b"), ()) for name in ("a", "b", "c")]
    assert [one.question.id for one in list_misses(missed)] == ["b", "a", "c"]


def test_no_questions_score_zero_without_an_error() -> None:
    assert score_outcomes([]).hit5 == 0.0
