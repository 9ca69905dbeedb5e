"""The forms in which dates and hashes are found, and what a question names letter for letter."""

import pytest

from lithify.docs.literals import holds_any, literals
from lithify.docs.wording import expanded, iso_dates, words_asked
from lithify.memory.lexical.analyser import LexicalAnalyser


@pytest.mark.parametrize(
    "text",
    ["2024-06-21", "2024/6/21", "21 June 2024", "21st of Jun 2024", "June 21, 2024", "jun. 21st 2024", "2024年6月21日"],
)
def test_a_day_is_found_however_it_is_written(text: str) -> None:
    assert iso_dates(text) == ["2024-06-21"]
    assert "june" in expanded(text).lower()


@pytest.mark.parametrize("text", ["2024-13-01", "31 February 2024", "12024-01-01", "May we meet in 2024"])
def test_what_is_no_day_stays_as_it_is(text: str) -> None:
    assert iso_dates(text) == []
    assert expanded(text) == text


def test_a_hash_is_found_by_every_usual_beginning() -> None:
    whole = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    analyser = LexicalAnalyser()
    known = set(words_asked(whole, analyser).indices)
    assert all(known & set(words_asked(whole[:length], analyser).indices) for length in (7, 8, 12, 16))
    assert expanded("1234567 and acceded") == "1234567 and acceded"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("what is E_PUMP_204", ("e_pump_204",)),
        ("see src/main.py please", ("src/main.py",)),
        ("who said “close the gate”", ("close the gate",)),
        ("log of June 21, 2024", ("2024-06-21",)),
        ("commit 4be1c9a.", ("4be1c9a",)),
        ("how many of the 16 buoys", ()),
        ("is it on? yes: go.", ()),
        ("台風のとき", ()),
        ("", ()),
    ],
)
def test_literals_of_a_question(question: str, named: tuple[str, ...]) -> None:
    assert literals(question) == named


def test_a_literal_must_stand_there_as_a_word() -> None:
    assert holds_any("Error E_204\nin the\n pump", ["e_204"])
    assert not holds_any("Error E_2041", ["e_204"])
    assert holds_any("close\n the gate", ["close the gate"])
    assert holds_any("on 21 June 2024", ["2024-06-21"])
    assert not holds_any("anything", [])
