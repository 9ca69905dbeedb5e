"""A question is told by its words: names that stand for themselves, or words that could be others."""

import pytest

from lithify.docs.terms import EXACT_WEIGHT, QuestionTerms, is_exact, read_terms
from lithify.memory.lexical.analyser import LexicalAnalyser

ANALYSER = LexicalAnalyser()


@pytest.mark.parametrize(
    "word",
    [
        *("snake_case", "_private", "MAX_SIZE", "readLevel", "HTTPServer", "ValueError", "os.path", "app.run"),
        *("std::vector", "--dry-run", "-v", "0x80070005", "TW-409-KEYREUSE", "9fceb02d0ae5", "503", "3.11.2"),
        *("2024-11-03", "docs/api/index", "setup.cfg", "src/keys.py", "ops@example.org", "UTF-8"),
    ],
)
def test_a_name_is_known_by_its_form(word: str) -> None:
    assert is_exact(word)


@pytest.mark.parametrize(
    "word",
    [
        *("harbour", "Harbour", "well-known", "and/or", "don't", "e.g", "U.S", "JSON", "URLs", "I/O", "3rd", "1990s"),
        *("12", "7", "Größe", "гавань", "港"),
    ],
)
def test_a_word_is_no_name(word: str) -> None:
    assert not is_exact(word)


@pytest.mark.parametrize(
    ("question", "exact", "plain"),
    [
        ("What does readLevel do?", ("readLevel",), 0),
        ("Where is merge_manifests described?", ("merge_manifests",), 1),
        ("how do holds expire", (), 2),
        ("Which flag does `dry run` stand for?", ("dry", "run"), 2),
        ("readLevel or readLevel", ("readLevel",), 0),
        ("What does --no mean in --no-cache?", ("--no-cache",), 1),  # a word that nobody can search for is no name
        ("3月に何があった", (), 7),  # a number does not make a name of an unspaced sentence
        ("", (), 0),
        ("the of and", (), 0),
    ],
)
def test_names_are_told_from_other_words(question: str, exact: tuple[str, ...], plain: int) -> None:
    assert read_terms(question, ANALYSER) == QuestionTerms(exact, plain)


def test_the_words_of_a_name_are_not_counted_again() -> None:
    assert read_terms("app.config_loader.run in production", ANALYSER).plain == 1


def test_a_question_goes_smoothly_from_prose_to_names() -> None:
    shares = [QuestionTerms(("a_b",) if names else (), plain).exact_share for names, plain in ((0, 4), (1, 8), (1, 0))]
    assert shares == [0.0, EXACT_WEIGHT / (EXACT_WEIGHT + 8), 1.0]
    assert QuestionTerms(("a_b",), 8).weight == EXACT_WEIGHT + 8
    assert QuestionTerms().exact_share == 0.0
