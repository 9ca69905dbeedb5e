"""What a context shows of the evidence is told in turns and in words."""

import pytest

from lithify.client import Context
from lithify.client.results import Block, Entry
from lithify.evaluation.answers import make_packed, share_of_words

LONG = "Ada: " + " ".join(f"word{number}" for number in range(99))


def entry(event: str | None, text: str) -> Entry:
    return Entry(id="m", event_id=event, text=text, role="user", source="turn", tokens=1)


def test_ten_words_of_a_long_turn_show_the_turn_but_a_tenth_of_its_words() -> None:
    shown = Context(
        blocks=(
            Block(
                "memories",
                (entry("e1", "… word3 word4 word5 word6 word7 word8 word9 word10 word11 word12 …"), entry("e2", LONG)),
            ),
        )
    )
    packed = make_packed(shown, 1.0, {"e1": LONG, "e9": "Not there."})
    assert packed.turns == ("e1", "e2")
    assert packed.words == {"e1": pytest.approx(0.1), "e9": 0.0}


def test_two_excerpts_of_a_turn_add_up_and_a_repeated_word_counts_once() -> None:
    assert share_of_words("one two three four", ["one two", "two three"]) == 0.75
    assert share_of_words("tea, tea and tea", ["Tea"]) == 0.25


def test_scripts_without_spaces_are_counted_by_signs() -> None:
    assert share_of_words("米米三岁了", ["三岁"]) == pytest.approx(0.4)


def test_a_turn_without_words_is_not_shown() -> None:
    assert share_of_words("!!!", ["!!!"]) == 0.0
