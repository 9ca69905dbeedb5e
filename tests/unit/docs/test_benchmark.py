"""The arithmetic of the benchmark, its questions, and what the lane finds worth telling."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lithify.docs.benchmark import ALL, Question, read_questions, run_benchmark
from lithify.docs.benchmark.scoring import scores
from lithify.docs.lane import LaneReceipt, aggregate, reasons_to_tell
from lithify.docs.terms import Mode
from lithify.errors import Invalid

QUESTIONS = (
    Question("first", "id", "q1", ("r/a",)),
    Question("third", "id", "q2", ("r/b",), important=True),
    Question("hinted", "date", "q3", ("r/c",), hint="h"),
    Question("lost", "date", "q4", ("r/d",), hint="h"),
    Question("none", "negative", "q5"),
)
ANSWERS = {
    "q1": ["r/a", "r/x"],
    "q2": ["r/x", "r/x", "r/y", "r/b"],
    "q3": ["r/1", "r/2", "r/3", "r/4", "r/5", "r/c"],
    "q3 h": ["r/c"],
    "q5": ["r/x"],
}


async def ask(query: str, mode: Mode) -> Sequence[str]:
    assert mode is Mode.HYBRID
    return ANSWERS.get(query, [])


async def test_a_known_run_has_exactly_these_scores() -> None:
    """spec 10.12"""
    report = await run_benchmark(QUESTIONS, ask, [Mode.HYBRID])
    told = report.scores[Mode.HYBRID]
    assert (told[ALL].hit_1, told[ALL].hit_5, told[ALL].hint_rate) == (0.25, 0.5, 0.25)
    assert (told["id"].hit_1, told["id"].hit_5, told["id"].hint_rate) == (0.5, 1.0, 0.0)
    assert (told["date"].hit_5, told["date"].hint_rate, told["date"].questions) == (0.0, 0.5, 2)
    assert (told["negative"].questions, told["negative"].negatives, told["negative"].answered) == (0, 1, 1.0)
    assert report.as_json()["misses"] == {"hybrid": ["hinted", "lost"]}


async def test_a_document_that_goes_costs_its_share_of_hits(monkeypatch: pytest.MonkeyPatch) -> None:
    """spec 10.12"""
    before = scores((await run_benchmark(QUESTIONS, ask, [Mode.HYBRID])).outcomes[Mode.HYBRID])[ALL]
    monkeypatch.setitem(ANSWERS, "q1", ["r/x"])
    after = scores((await run_benchmark(QUESTIONS, ask, [Mode.HYBRID])).outcomes[Mode.HYBRID])[ALL]
    assert before.hit_5 - after.hit_5 == pytest.approx(1 / 4)


def test_no_questions_have_no_scores() -> None:
    assert scores([])[ALL].hit_5 == 0.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not YAML"),
        ("a: b", "wrong"),
        ("- {id: a, category: b}", "0.query"),
        ("- {id: a, category: b, query: c, colour: red}", "colour"),
        ("- {id: a, category: b, query: c}\n- {id: a, category: b, query: d}", "same id"),
        ("- {id: a, category: b, query: c, expected: [../x]}", "path"),
    ],
)
def test_questions_that_cannot_be_meant_are_refused(text: str, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        read_questions(text, "r")


def test_questions_may_look_like_numbers() -> None:
    [one] = read_questions("- {id: 1, category: hash, query: 1234567, expected: [a.md]}", "r")
    assert (one.id, one.query, one.expected) == ("1", "1234567", ("r/a.md",))


async def receipt() -> LaneReceipt:
    return aggregate(await run_benchmark(QUESTIONS, ask, [Mode.HYBRID]), 1, 7, {"put": 2})


async def test_the_receipt_names_the_worst_misses() -> None:
    told = await receipt()
    assert (told.hits, told.misses, told.important) == (["first", "third"], ["hinted", "lost"], ["third"])
    assert [one["id"] for one in told.worst] == ["lost", "hinted"]


async def test_an_unchanged_or_better_run_is_silent() -> None:
    """spec 10.13"""
    told = await receipt()
    better = replace(told, hits=["first", "third", "lost"], misses=["hinted"])
    assert reasons_to_tell(told, told) == []
    assert reasons_to_tell(told, better) == []


async def test_a_question_that_stops_hitting_is_told_once() -> None:
    """spec 10.13"""
    told = await receipt()
    worse = replace(told, hits=["third", "lost"], misses=["first", "hinted"])
    assert reasons_to_tell(told, worse) == ["no longer found: first"]
    assert reasons_to_tell(worse, worse) == []
    assert reasons_to_tell(told, worse, tolerance=0.5) == []


async def test_a_new_important_miss_is_told_even_at_the_first_run() -> None:
    told = await receipt()
    missing = replace(told, hits=["first"], misses=["third", "hinted", "lost"])
    assert reasons_to_tell(None, told) == []
    assert reasons_to_tell(None, missing) == ["important and not found: third"]
    assert reasons_to_tell(told, missing) == ["no longer found: third"]
    assert reasons_to_tell(missing, missing) == []
