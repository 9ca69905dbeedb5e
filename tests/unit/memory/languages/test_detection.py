"""The language of a turn is told from few words, or not at all."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.languages import ENGLISH, detect_foreign, detect_language, find_readings

SENTENCES: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "sentences.toml").read_text("utf-8"))[
    "detection"
]
SHORT = [(code, text) for code, texts in SENTENCES.items() for text in texts]
# Of one function word and international nouns: too little to tell.
TOO_SHORT = {"O servidor roda na porta 8443."}


@pytest.mark.parametrize(("code", "text"), [pair for pair in SHORT if pair[0] != ENGLISH and pair[1] not in TOO_SHORT])
def test_short_turns_are_told(code: str, text: str) -> None:
    language = detect_language(text)
    assert language is not None
    assert language.code == code


@pytest.mark.parametrize("text", [*SENTENCES[ENGLISH], *sorted(TOO_SHORT), "Los Angeles", "cache_dir", "42", "", "😀"])
def test_english_and_what_says_too_little_is_no_other_language(text: str) -> None:
    assert detect_foreign(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("東京駅前", "zh"),
        ("東京の駅", "ja"),
        ("我们用 PostgreSQL 和 Redis", "zh"),
        ("How do I say спасибо in Russian?", ENGLISH),
    ],
)
def test_most_of_a_text_decides_its_script(text: str, code: str) -> None:
    language = detect_language(text)
    assert language is not None
    assert language.code == code


@pytest.mark.parametrize("text", ["Καλημέρα, τι κάνεις;", "สวัสดีครับ", "שלום לך"])
def test_a_script_without_a_file_has_no_language(text: str) -> None:
    assert detect_language(text) is None


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters()))
def test_any_text_may_be_asked_about(text: str) -> None:
    detect_language(text)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Where does my brother live?", [ENGLISH]),
        ("Was ist meine Adresse?", ["de"]),  # whose "was" is no English verb
        ("Где живёт мой брат?", ["ru", ENGLISH]),
        ("我的 latest version 是什么？", ["zh", ENGLISH]),
        ("Καλημέρα, τι κάνεις;", [ENGLISH]),
        ("", [ENGLISH]),
    ],
)
def test_a_sure_language_is_read_alone_or_beside_english_of_another_script(text: str, codes: list[str]) -> None:
    assert [language.code for language in find_readings(text)] == codes


def test_a_short_text_of_unsure_language_is_read_in_all_it_may_be_in() -> None:
    codes = {language.code for language in find_readings("aniversario de Ana")}
    assert {"es", "pt"} <= codes
    assert [language.code for language in find_readings("x" * 300 + " de Ana")] == [ENGLISH]
