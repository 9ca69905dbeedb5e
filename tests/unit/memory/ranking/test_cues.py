"""Signs in the form of a question or a text."""

import pytest

from lithify.memory.ranking.cues import (
    asks_about_self,
    asks_something,
    asks_when,
    keywords,
    statement_share,
    substance,
    words,
)
from lithify.memory.ranking.profile import SEED
from lithify.memory.ranking.scoring import score_pass2
from tests.unit.memory.candidate_samples import NOW, candidate


@pytest.mark.parametrize(
    "query",
    ["When did Ada leave?", "How long was the trip", "In what year was it?", "how many weeks ago", "Which day was it?"],
)
def test_questions_for_a_time_are_recognised(query: str) -> None:
    assert asks_when(query)


@pytest.mark.parametrize("query", ["Whenever I go", "How many dogs?", "What did she paint?", "Which city?"])
def test_other_questions_do_not_ask_for_a_time(query: str) -> None:
    assert not asks_when(query)


@pytest.mark.parametrize(
    "query",
    [
        "Where do I live?",
        "what's my phone number",
        "Am I allergic to anything?",
        "What do you know about me?",
        "when does Ada fly to Rome?",
        "Wo wohnt meine Schwester?",
        "¿Cómo se llama mi perro?",
        "Где живёт моя сестра?",
        "我住在哪里？",
    ],
)
def test_who_asks_about_himself_is_recognised(query: str) -> None:
    assert asks_about_self(query, "ada")


@pytest.mark.parametrize(
    "query",
    [
        "How do I exit vim?",
        "Can I eat raw potatoes?",
        "Write me a haiku about autumn.",
        "What is the capital of Mongolia?",
        "Should I learn Rust?",
        "In which year did the Berlin wall fall?",
    ],
)
def test_questions_about_the_world_are_not_about_oneself(query: str) -> None:
    assert not asks_about_self(query, "ada")


@pytest.mark.parametrize(
    ("text", "asking"),
    [
        *[("Really? Nice.", True), ("本当？", True), ("هل هذا؟", True), ("Nice.", False)],
        *[("どこに住んでいますか。", True), ("어디에 사나요", True), ("大阪に住んでいます。", False)],
    ],
)
def test_a_question_mark_or_an_ending_of_any_script_asks(text: str, asking: bool) -> None:
    assert asks_something(text) is asking


@pytest.mark.parametrize(("tokens", "expected"), [(-1, 0.0), (0, 0.0), (16, 0.25), (64, 1.0), (9000, 1.0)])
def test_substance_grows_to_a_full_turn_and_no_further(tokens: int, expected: float) -> None:
    assert substance(tokens) == expected


def test_keywords_are_literal_words_of_three_letters_or_more() -> None:
    """spec 08.5"""
    found = keywords("Where does the lexer store its cache?")
    assert found == ("where", "does", "the", "lexer", "store", "its", "cache")
    text = "Note: the lexer keeps cache_dir in its own folder"
    [covering] = score_pass2([candidate(text=text)], found, SEED, NOW, 0)
    assert covering.coverage == pytest.approx(0.4285714, abs=1e-6)
    assert keywords("!!") == ()
    row = score_pass2([candidate(dense=0.9, age_s=0)], (), SEED, NOW, 0)[0]
    assert row.coverage == 0.0
    assert row.score == pytest.approx(0.5 * 0.9 / 1.3)


def test_other_scripts_have_words_too() -> None:
    assert keywords("Où est l'été à Köln? ab") == ("est", "été", "köln")
    assert keywords("東京駅 café") == ("東京", "京駅", "café")
    assert keywords("茶 ab東京cde") == ("東京", "cde")
    assert words("茶 ab東京c_1") == ["茶", "ab", "東京", "c_1"]
    assert keywords("Добрый день, мир и я") == ("добрый", "день", "мир")
    assert keywords("cache CACHE Cache_1 x2") == ("cache", "cache_1")


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("I moved to Lisbon.", 1.0),
        ("Where do I live?", 0.0),
        ("I bought a car. Was it too much?", 15 / 32),
        ("I bought a car, was it too much?", 15 / 32),
        ("我住在里斯本。你呢？", 7 / 10),
        ("", 1.0),
    ],
)
def test_a_question_at_the_end_does_not_undo_what_was_said(text: str, share: float) -> None:
    assert statement_share(text) == pytest.approx(share)
