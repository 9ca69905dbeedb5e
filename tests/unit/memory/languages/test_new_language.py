"""The language that docs/languages.md adds as an example works as it stands there."""

import re
import textwrap
from pathlib import Path

import pytest

from lithify.memory.guidance.foreign import is_foreign_instruction, is_general_foreign_instruction
from lithify.memory.languages import Language, LanguageDetector, load_languages, normalise, read_languages, take_dates

DOCS = Path(__file__).parents[4] / "docs" / "languages.md"


@pytest.fixture
def detector(tmp_path: Path) -> LanguageDetector:
    [example] = re.findall(r"^ *```toml\n(.*?)^ *```$", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "sv.toml").write_text(textwrap.dedent(example), "utf-8")
    return LanguageDetector({**load_languages(), **read_languages(tmp_path)})


@pytest.fixture
def swedish(detector: LanguageDetector) -> Language:
    [language] = detector.find_readings("När kommer du hem till mig?")
    return language


def test_its_questions_are_read_by_its_words(swedish: Language) -> None:
    assert swedish.code == "sv"
    assert swedish.finds("questions.when", normalise("När är ditt möte?"))
    assert swedish.finds("tenses.latest", normalise("Var bor hon nu?"))
    assert not swedish.finds("questions.how_many", normalise("När är ditt möte?"))


def test_its_dates_are_found(swedish: Language) -> None:
    assert take_dates(normalise("Vi åkte den 3 mars, för två veckor sedan."), swedish)[0] == {
        "3 mars",
        "för två veckor sedan",
    }


@pytest.mark.parametrize("text", ["Svara alltid på svenska.", "Snälla, kalla mig Ada från och med nu."])
def test_its_standing_instructions_are_told(swedish: Language, text: str) -> None:
    assert is_foreign_instruction(text, [swedish])
    assert is_general_foreign_instruction(text, [swedish])


@pytest.mark.parametrize("text", ["Svara på svenska.", "Jag glömmer alltid nycklarna.", "Svara idag som alltid."])
def test_orders_for_once_and_habits_are_none(swedish: Language, text: str) -> None:
    assert not is_foreign_instruction(text, [swedish])


def test_the_other_languages_are_told_as_before(detector: LanguageDetector) -> None:
    readings = {text: detector.find_readings(text)[0].code for text in ("Wo wohnt meine Schwester?", "Where is it?")}
    assert list(readings.values()) == ["de", "en"]
