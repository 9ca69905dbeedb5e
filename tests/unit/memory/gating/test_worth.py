"""What is worth keeping is learned from labels (spec 04)."""

from dataclasses import replace

import numpy as np
import pytest

from lithify.errors import Invalid
from lithify.memory.gating.worth import ENOUGH, Worth, learn_worth, text_shape

TEXTS = ["green boats", "red boats", "green trams", "red trams"]
VECTORS = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
BOATS = [True, True, False, False]


@pytest.fixture
def boats() -> Worth:
    return learn_worth("test", TEXTS, VECTORS, BOATS)


def test_labels_teach_where_worthy_turns_lie(boats: Worth) -> None:
    worths = [boats(text, vector) for text, vector in zip(TEXTS, VECTORS, strict=True)]
    assert min(worths[:2]) > 0.5 > max(worths[2:])
    assert boats("blue boats", [0.8, 0.0]) > 0.5


def test_the_same_labels_teach_the_same(boats: Worth) -> None:
    assert np.array_equal(learn_worth("test", TEXTS, VECTORS, BOATS).weights, boats.weights)


def test_learning_ends_at_the_best_weights(boats: Worth) -> None:
    """At the minimum a second run from any label order cannot end elsewhere."""
    backwards = learn_worth("test", TEXTS[::-1], VECTORS[::-1], BOATS[::-1])
    assert backwards.weights == pytest.approx(boats.weights, abs=1e-9)


def test_labels_of_one_kind_teach_nothing() -> None:
    with pytest.raises(Invalid, match="both turns to keep and turns to leave"):
        learn_worth("test", TEXTS, VECTORS, [True] * 4)


def test_the_shape_tells_long_asked_pasted_and_prompted() -> None:
    plain = text_shape("one two three")
    assert text_shape("one two three four")[0] > plain[0]
    assert plain[1:] == (0, 0, 0)
    assert text_shape("one?")[1:] == (1, 0, 0)
    assert text_shape("one\ntwo")[1:] == (0, 1, 0)
    assert text_shape("You are an agent")[1:] == (0, 0, 1)
    assert text_shape("word " * 100_000)[0] == 1.5


def test_a_worth_is_a_probability_whatever_the_vector(boats: Worth) -> None:
    assert boats("x", [1e6, -1e6]) == pytest.approx(1.0)
    assert boats("x", [-1e6, 1e6]) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("text", "learned", "wanted"),
    [
        ("I am a dentist in Namur.", -1.0, True),
        ("Thanks a lot!", 1.0, False),
        ("Recommend a restaurant for my wife's birthday on 5 May.", 5.0, False),
        ("Where does my wife work?", 5.0, False),
        ("ERROR 2026-05-12 my server is down", 5.0, False),
    ],
    ids=["fact", "thanks", "request", "question", "log"],
)
def test_the_words_are_heard_beside_what_was_learned(text: str, learned: float, wanted: bool) -> None:
    """An embedding cannot tell a request from what it is about."""
    weights = np.array([learned, *[0.0] * (len(text_shape("")) + 1)])
    deaf = Worth("test", weights)
    assert (deaf(text, [1.0]) > 0.5) == (learned > 0)
    assert (replace(deaf, hears_words=True)(text, [1.0]) > 0.5) == wanted
    assert (deaf.source, replace(deaf, hears_words=True).source) == ("worth", "worth+words")


def test_what_is_learned_hears_the_words(boats: Worth) -> None:
    assert boats.hears_words


def test_vectors_of_another_length_are_refused(boats: Worth) -> None:
    with pytest.raises(Invalid, match="learned for test does not fit"):
        boats("x", [1.0, 0.0, 0.0])


def test_a_language_counts_as_learned_from_twenty_labels_on() -> None:
    texts = [f"Ich wohne seit {year} in Bonn." for year in range(ENOUGH)]
    few, many = texts[1:], texts
    for told, wanted in ((few, {"en"}), (many, {"en", "de"})):
        vectors = np.eye(len(told) + 1)
        made = learn_worth("test", [*told, "Thanks!"], vectors, [*[True] * len(told), False])
        assert made.languages == wanted
