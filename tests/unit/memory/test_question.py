"""A question of any length is read in bounded time, and one that people ask is read whole."""

from lithify.memory.lexical.analyser import MAX_QUESTION_CHARS
from lithify.memory.question import clip_question


def test_a_question_of_pages_is_read_whole() -> None:
    asked = "Where is the boat? " * 800
    assert clip_question(asked) == asked


def test_of_a_longer_one_beginning_and_end_are_read() -> None:
    asked = "Where is the boat in this log?" + "x" * 200_000 + "And who took it?"
    read = clip_question(asked)
    assert len(read) <= MAX_QUESTION_CHARS
    assert read.startswith("Where is the boat in this log?")
    assert read.endswith("And who took it?")


def test_what_was_read_is_read_again_as_it_is() -> None:
    read = clip_question("a" * 300_000)
    assert clip_question(read) == read
