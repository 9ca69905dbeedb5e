"""A file of questions is read whole or refused with the place of the mistake."""

from importlib.resources import files
from pathlib import Path

import pytest

from lithify.docs.benchmark.questions import parse_questions, read_questions
from lithify.errors import Invalid

GOOD = "questions:\n  - {id: a, category: hash, ask: abc, expect: [x.md], hint: word}\n"


def test_a_question_is_read_with_its_hint() -> None:
    [one] = parse_questions(GOOD, "file")
    assert (one.id, one.expect, one.ask_with_hint) == ("a", ("x.md",), "abc word")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("questions: [", "is not YAML"),
        ("questions: []", "questions"),
        ("- a", "questions"),
        ("", "questions"),
        ("questions:\n  - {id: a, category: b}", r"questions\.0\.ask"),
        ("questions:\n  - {id: a, category: b, ask: c, expected: [x]}", r"questions\.0\.expected"),
        (GOOD + "  - {id: a, category: hash, ask: b}\n", "'a' is used twice"),
        ("questions:\n  - {id: a, category: b, ask: 2025-01-01}", r"questions\.0\.ask"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        parse_questions(text, "some.yaml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"none\.yaml"):
        read_questions(tmp_path / "none.yaml")


def test_yaml_cannot_make_objects() -> None:
    with pytest.raises(Invalid, match="not YAML"):
        parse_questions("questions: !!python/object/apply:os.getcwd []", "file")


def test_the_shipped_questions_expect_shipped_documents() -> None:
    corpus = files("lithify.cli.docs")
    questions = parse_questions((corpus / "questions.yaml").read_text("utf-8"), "shipped")
    missing = [path for one in questions for path in one.expect if not (corpus / "corpus" / path).is_file()]
    assert not missing
    answered = [one for one in questions if one.expect]
    assert len(answered) >= 30
    assert all(one.hint for one in answered)
    wanted = {"decision", "identifier", "date", "hash", "path", "quote", "cjk", "negative"}
    assert {one.category for one in questions} == wanted
