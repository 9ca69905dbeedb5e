"""What a turn is worth by its words, where no model knows its language."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from lithify.memory.gating.spoken_evidence import weigh_words
from lithify.memory.languages import detect_language, load_languages

Turns = Mapping[str, list[str]]
FOLDER = Path(__file__).parent.parent / "languages"
BATCHES = ("turns.toml", "later_turns.toml", "varied_turns.toml")
TURNS = [tomllib.loads((FOLDER / name).read_text("utf-8")) for name in BATCHES]
KEPT = 0.5  # from here on a turn is kept


def is_kept(text: str, code: str) -> bool:
    return weigh_words(text, load_languages()[code]) >= KEPT


@pytest.mark.parametrize("code", sorted(load_languages().keys() - {"en"}))
@pytest.mark.parametrize("turns", TURNS, ids=BATCHES)
def test_most_facts_are_worth_keeping_and_hardly_any_chatter(turns: Mapping[str, Turns], code: str) -> None:
    facts = [is_kept(text, code) for text in turns[code]["facts"]]
    chatter = [is_kept(text, code) for text in turns[code]["chatter"]]
    assert sum(facts) >= 0.9 * len(facts)
    assert sum(chatter) <= 0.1 * len(chatter)


@pytest.mark.parametrize(
    ("code", "fact", "reaction"),
    [
        ("en", "I love jazz, above all Coltrane.", "I love it!"),
        ("es", "Me encanta el jazz de los cincuenta.", "¡Me encanta!"),
        ("fr", "J'adore le jazz des années cinquante.", "J'adore !"),
        ("ru", "Мне нравится джаз пятидесятых.", "Мне очень нравится!"),
        ("de", "Ich bin Schreiner von Beruf.", "Ich bin so müde."),
    ],
)
def test_a_liking_is_a_fact_and_a_reaction_is_none(code: str, fact: str, reaction: str) -> None:
    assert (is_kept(fact, code), is_kept(reaction, code)) == (True, False)


@pytest.mark.parametrize(
    ("code", "stated", "asked"),
    [
        (
            "de",
            "Ich bin nach Bonn gezogen, kannst du mir ein Lokal empfehlen?",
            "Kannst du mir in Bonn ein Lokal empfehlen?",
        ),
        ("es", "Me mudé a Lima, ¿puedes recomendarme un bar?", "¿Puedes recomendarme un bar en Lima?"),
    ],
)
def test_what_is_stated_before_a_request_counts(code: str, stated: str, asked: str) -> None:
    assert (is_kept(stated, code), is_kept(asked, code)) == (True, False)


def test_what_is_asked_for_always_is_no_request_for_once() -> None:
    assert is_kept("Schreib mir Zahlen immer mit Punkt.", "de")
    assert not is_kept("Schreib mir die Zahlen mit Punkt.", "de")


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01 02:14:07 Verbindung zum Server db01 getrennt",
        "ERROR Server db01 antwortet nicht",
        "SELECT name FROM kunden WHERE stadt = 'Bonn';",
        "docker run -d --name server -p 8080:80 nginx",
        "kind: Server\nname: planer\nversion: 4",
    ],
)
def test_what_was_pasted_is_left(text: str) -> None:
    assert not is_kept(text, "de")


def test_a_fact_beside_chatter_counts() -> None:
    german = detect_language("Danke dir! Übrigens wohne ich jetzt in Bonn.")
    assert german is not None
    assert weigh_words("Danke dir! Übrigens wohne ich jetzt in Bonn.", german) >= KEPT
    assert weigh_words("Danke dir! Das war sehr nett.", german) < KEPT


def test_a_question_is_worth_less_than_the_statement() -> None:
    german = load_languages()["de"]
    asked, stated = (weigh_words(f"Ich wohne in Bonn{mark}", german) for mark in "?.")
    assert asked < KEPT <= stated


def test_without_a_file_numbers_and_names_are_all_there_is() -> None:
    assert weigh_words("Με λένε Νίκο και μένω στην Αθήνα από το 2019.", None) >= KEPT
    assert weigh_words("Καλημέρα!", None) < KEPT


def test_a_blank_text_is_worth_nothing() -> None:
    assert weigh_words(" \n ", None) == 0.0


def test_hostile_text_is_read_in_no_time() -> None:
    for text in ("a" * 100_000, "ich " * 30_000, "ne " + " " * 100_000, "?" * 100_000):
        assert 0.0 <= weigh_words(text, load_languages()["fr"]) <= 1.0
