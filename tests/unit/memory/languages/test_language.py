"""Languages are data: a file is enough, and a bad one says what is wrong with it."""

import re
from pathlib import Path

import pytest

from lithify.errors import Misconfigured
from lithify.memory.languages import LanguageDetector, load_languages, normalise, read_languages
from lithify.memory.languages.language import CUES
from lithify.memory.lexical.analyser import LexicalAnalyser

SWEDISH = """
code = "sv"
name = "Swedish"
scripts = ["Latin"]
stemmer = "swedish"
letters = "åäö"
stop_words = "jag du han hon vi och är en ett det som på i inte till med har min mitt mina"
common = "bor heter arbetar idag igår"
[dates]
months = ["januari", "februari", "mars", "april", "maj", "juni",
  "juli", "augusti", "september", "oktober", "november", "december"]
[gate]
facts = "jag heter, jag bor, allergisk mot"
"""


def write(folder: Path, content: str, name: str = "sv.toml") -> Path:
    (folder / name).write_text(content, "utf-8")
    return folder


@pytest.fixture
def with_swedish(tmp_path: Path) -> LanguageDetector:
    return LanguageDetector({**load_languages(), **read_languages(write(tmp_path, SWEDISH))})


def test_a_file_adds_a_language_to_detection(with_swedish: LanguageDetector) -> None:
    found = with_swedish.detect("Jag heter Ada och bor i Uppsala.")
    assert found is not None
    assert found.code == "sv"


def test_a_file_adds_a_language_to_search(with_swedish: LanguageDetector) -> None:
    analyser = LexicalAnalyser(detector=with_swedish)
    stored = analyser.document_vector("Jag bor på en båt och har två hundar.", 10.0)[0]
    assert set(analyser.query_vector("Har du en hund?")[0]) & set(stored)


def test_a_file_adds_cues(tmp_path: Path) -> None:
    swedish = read_languages(write(tmp_path, SWEDISH))["sv"]
    assert swedish.finds("gate.facts", normalise("Hej! Jag heter Ada."))
    assert not swedish.finds("gate.facts", normalise("Hej!"))
    assert not swedish.finds("questions.when", "när kommer du?")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (SWEDISH.replace('"Swedish"', '""'), "sv.toml: the field name is missing"),
        (SWEDISH.replace("letters =", "leters ="), "sv.toml: there is no field leters"),
        (SWEDISH.replace('"sv"', '"se"'), "sv.toml: the field code is 'se'"),
        (SWEDISH.replace('"swedish"', '"klingon"'), "sv.toml: the field stemmer has 'klingon'"),
        (SWEDISH.replace('["Latin"]', '["Runes"]'), "sv.toml: the field scripts has 'Runes'"),
        (SWEDISH.replace('"januari", ', ""), "sv.toml: the field dates.months must be a list of 12"),
        (SWEDISH.replace("facts =", "fact ="), "sv.toml: there is no field gate.fact"),
        (SWEDISH.replace('"jag heter, jag bor, allergisk mot"', "[]"), "sv.toml: the field gate.facts must be"),
        ("code = ", "sv.toml is no TOML"),
    ],
)
def test_a_bad_file_is_refused_with_its_field(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(Misconfigured, match=told):
        read_languages(write(tmp_path, content))


def test_a_phrase_that_is_no_pattern_is_refused_with_its_field(tmp_path: Path) -> None:
    swedish = read_languages(write(tmp_path, SWEDISH.replace("jag heter,", "jag (?:heter,")))["sv"]
    with pytest.raises(Misconfigured, match=r"sv.toml: the field gate.facts holds a phrase that cannot be read"):
        swedish.finds("gate.facts", "jag heter Ada")


@pytest.mark.parametrize("code", sorted(load_languages()))
def test_every_phrase_of_a_shipped_language_can_be_read(code: str) -> None:
    language = load_languages()[code]
    for table, fields in CUES.items():
        for name in fields:
            language.find_pattern(f"{table}.{name}")


@pytest.mark.parametrize("code", sorted(load_languages().keys() - {"en"}))
def test_a_shipped_language_has_every_kind_of_cue(code: str) -> None:
    language = load_languages()[code]
    wanted = ("questions.when", "dates.relative", "tenses.latest", "self.words", "negation.words")
    asked = ("instructions.lasting", "instructions.speech", "gate.facts", "gate.chatter", "gate.requests")
    assert not [name for name in (*wanted, *asked) if name not in language.phrases]
    assert set(language.months.values()) == set(range(1, 13))


def test_thirteen_languages_are_shipped() -> None:
    assert set(load_languages()) == {*("en", "de", "es", "fr", "it", "pt", "nl", "ru", "zh", "ja", "ko", "ar", "hi")}


def test_a_cue_is_found_without_its_accents_and_not_inside_a_word() -> None:
    german, hindi = load_languages()["de"], load_languages()["hi"]
    assert german.finds("dates.relative", normalise("Ubermorgen geht es los"))
    assert not german.finds("questions.when", normalise("irgendwanneinmal"))
    assert hindi.finds("self.words", normalise("मैं घर पर हूँ"))
    assert not hindi.finds("self.words", normalise("मैंगो मीठा है"))


def test_no_phrase_has_a_class_that_lower_case_turns_round() -> None:
    """Phrases are read in lower case, where what is no letter would become a letter."""
    for language in load_languages().values():
        assert not [
            phrase for phrases in language.phrases.values() for phrase in phrases if re.search(r"\\[A-Z]", phrase)
        ]
