"""A turn joins a memory only if nothing it says gets lost."""

import pytest

from lithify.memory.gating.gate import restates
from lithify.memory.lexical.analyser import LexicalAnalyser

ANALYSER = LexicalAnalyser()


def says_again(said: str, known: str) -> bool:
    return restates(said, known, ANALYSER.tokens(said), ANALYSER.tokens(known))


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("I prefer tea over coffee!", "I prefer tea over coffee."),
        ("i really PREFER tea", "I prefer tea"),
        ("I moved to Oslo", "I moved to Oslo in 2019"),
        ("I don't eat fish", "I do not eat fish"),
        ("I don’t eat fish", "I don't eat fish"),
    ],
)
def test_other_words_for_the_same_are_a_restatement(said: str, known: str) -> None:
    assert says_again(said, known)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My code is 4712", "My code is 4711"),
        ("I prefer coffee over tea", "I prefer tea over coffee"),
        ("I eat fish", "I don't eat fish"),
        ("No fish for me", "Fish for me"),
        ("I moved to Oslo in 2019", "I moved to Oslo"),
        ("I want my tea tea", "I want my tea"),
    ],
)
def test_a_number_an_order_a_negation_or_an_addition_is_news(said: str, known: str) -> None:
    assert not says_again(said, known)
