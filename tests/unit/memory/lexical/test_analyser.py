"""Tokens and sparse vectors of the lexical leg."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.lexical.analyser import (
    MAX_CHARS,
    MAX_QUESTION_CHARS,
    MAX_TERMS,
    LexicalAnalyser,
    searchable_text,
    token_index,
)
from lithify.memory.lexical.word_lists import BASE_FORMS, STOP_WORDS

analyser = LexicalAnalyser()


def weights(vector: tuple[list[int], list[float]]) -> dict[int, float]:
    return dict(zip(*vector, strict=True))


def test_inflected_forms_meet_in_one_token() -> None:
    assert analyser.tokens("Mailing mailed MAILS mail") == ["mail"] * 4


@pytest.mark.parametrize(
    ("said", "asked"), [("bought", "buy"), ("went", "going"), ("children", "child"), ("won", "wins")]
)
def test_irregular_forms_meet_in_one_token(said: str, asked: str) -> None:
    assert analyser.tokens(said) == analyser.tokens(asked)


def test_every_irregular_form_has_one_base_and_none_is_a_base_or_a_function_word() -> None:
    assert not BASE_FORMS.keys() & set(BASE_FORMS.values())
    assert not STOP_WORDS & (BASE_FORMS.keys() | set(BASE_FORMS.values()))


def test_a_turn_is_found_by_the_day_it_was_said() -> None:
    assert searchable_text("We met.", 1_683_554_160_000) == "We met. 8 May 2023"


@pytest.mark.parametrize("ts", [10**20, -(10**20)])
def test_a_time_no_calendar_holds_adds_no_words(ts: int) -> None:
    assert searchable_text("We met.", ts) == "We met."


def test_possessives_and_typographic_apostrophes_do_not_hide_a_name() -> None:
    assert analyser.tokens("Melanie's Melanie’s Melanie") == ["melani"] * 3


def test_function_words_and_contractions_are_left_out() -> None:
    assert analyser.tokens("What didn't they do? I'm there, and it's THE one; don’t!") == []


@pytest.mark.parametrize("word", ["before", "after", "first", "last", "never", "may"])
def test_words_that_date_or_negate_stay_searchable(word: str) -> None:
    assert word not in STOP_WORDS


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("cache_dir", ["cache_dir", "cach", "dir"]),
        ("svc/billing/rates.py", ["svc/billing/rates.py", "svc", "bill", "rate", "py"]),
        ("ERR_QUOTA", ["err_quota", "err", "quota"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("2024-08-11", ["2024-08-11", "2024", "08", "11"]),
        ("7f3a9c01d2", ["7f3a9c01d2"]),
        ("rateLimit", ["ratelimit", "rate", "limit"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("mia@example.org", ["mia@example.org", "mia", "exampl", "org"]),
        ("10:30", ["10:30", "10", "30"]),
        ("__init__", ["__init__", "init"]),
        ("... --- ___ '", []),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text: str, tokens: list[str]) -> None:
    assert analyser.tokens(text) == tokens


def test_an_identifier_at_the_end_of_a_sentence_loses_only_the_full_stop() -> None:
    assert analyser.tokens("See (svc/rates.py).")[-4:] == ["svc/rates.py", "svc", "rate", "py"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京駅前", ["東京", "京駅", "駅前"]),
        ("猫", ["猫"]),
        ("API東京-大阪", ["api", "東京", "大阪"]),
        ("ﾄｳｷｮｳ", ["トウ", "ウキ", "キョ", "ョウ"]),
        ("서울역", ["서울", "울역"]),
        ("ไทย", ["ไท", "ทย"]),
    ],
)
def test_runs_without_blanks_become_bigrams(text: str, tokens: list[str]) -> None:
    assert analyser.tokens(text) == tokens


@pytest.mark.parametrize("word", ["नमस्ते", "שָׁלוֹם", "مَدرسة", "straße", "вокзал"])
def test_words_of_other_scripts_stay_whole(word: str) -> None:
    assert len(analyser.tokens(f"{word} {word}")) == 2


def test_composed_and_decomposed_letters_are_the_same_token() -> None:
    assert analyser.tokens("Cafe\u0301") == analyser.tokens("Caf\u00e9")


def test_document_weights_follow_bm25() -> None:
    vector = weights(analyser.document_vector("kettle kettle teapot", average_length=6.0))
    penalty = 0.9 * (1 - 0.3 + 0.3 * 3 / 6)
    assert vector == {
        token_index("kettl"): pytest.approx(2 * 1.9 / (2 + penalty)),
        token_index("teapot"): pytest.approx(1 * 1.9 / (1 + penalty)),
    }


def test_a_query_counts_each_token_once() -> None:
    assert weights(analyser.query_vector("kettle, kettles and a teapot")) == {
        token_index("kettl"): 1.0,
        token_index("teapot"): 1.0,
    }


def test_texts_without_tokens_have_empty_vectors() -> None:
    assert analyser.document_vector("", 5.0) == ([], [])
    assert analyser.query_vector("the and of 😀") == ([], [])


def test_colliding_tokens_add_their_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lithify.memory.lexical.analyser.token_index", len)
    assert analyser.query_vector("kettl tepot mug") == ([3, 5], [1.0, 2.0])


def test_token_indices_are_fixed_for_ever() -> None:
    """A change here would silently orphan every stored lexical vector."""
    assert [token_index(token) for token in ("kettl", "東京", "cache_dir")] == [2197554549, 3179978821, 3840928479]


@pytest.mark.parametrize(
    ("average_length", "k1", "b"),
    [
        (0.0, 1.2, 0.75),
        (float("nan"), 1.2, 0.75),
        (float("inf"), 1.2, 0.75),
        (5.0, -0.1, 0.75),
        (5.0, float("inf"), 0.75),
        (5.0, 1.2, 1.1),
        (5.0, 1.2, float("nan")),
    ],
)
def test_numbers_outside_the_domain_of_bm25_are_refused(average_length: float, k1: float, b: float) -> None:
    with pytest.raises(ValueError, match=r"average length|BM25 needs"):
        analyser.document_vector("text", average_length, k1, b)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="no stemmer for 'klingon'"):
        LexicalAnalyser("klingon")


def test_one_analyser_serves_many_threads() -> None:
    texts = [f"mailing {'running ' * n} letters" for n in range(50)]
    alone = [analyser.tokens(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(analyser.tokens, texts))
    assert together == alone


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters()), st.floats(0.1, 1e4), st.floats(0.0, 3.0), st.floats(0.0, 1.0))
def test_document_weights_are_bounded_and_indices_valid(text: str, average: float, k1: float, b: float) -> None:
    indices, values = analyser.document_vector(text, average, k1, b)
    assert indices == sorted(set(indices))
    assert all(0 <= index < 2**32 for index in indices)
    # Two tokens share an index about once in four billion pairs, so k1 + 1 bounds each weight.
    assert all(0.0 < value <= k1 + 1.0 + 1e-9 for value in values)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters()))
def test_every_text_finds_itself(text: str) -> None:
    assert set(analyser.query_vector(text)[0]) >= set(analyser.document_vector(text, 10.0)[0])


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 30), st.integers(0, 30))
def test_repetition_raises_a_weight_and_length_lowers_it(times: int, padding: int) -> None:
    def weight(count: int, filler: int) -> float:
        text = "kettle " * count + "teapot " * filler
        return weights(analyser.document_vector(text, 20.0))[token_index("kettl")]

    assert weight(times + 1, padding) > weight(times, padding + 1)
    assert weight(times, padding + 1) < weight(times, padding)


def test_a_vector_has_so_many_terms_and_keeps_the_heaviest() -> None:
    text = " ".join(f"word{number}" for number in range(3 * MAX_TERMS)) + " kettle kettle"
    indices, _ = analyser.document_vector(text, 17.0)
    assert len(indices) == MAX_TERMS
    assert {token_index("kettl"), token_index("word0")} <= set(indices)
    assert token_index(f"word{3 * MAX_TERMS - 1}") not in indices
    assert len(analyser.query_vector(" ".join(chr(number) for number in range(0x4E00, 0x9FFF)))[0]) <= MAX_TERMS


@pytest.mark.parametrize("extra", ["", " straße", " über die Straße gehen wir nicht mehr und das ist gut"])
def test_a_word_without_an_end_is_found_as_it_stands_and_remembered_by_nobody(extra: str) -> None:
    word = "running" * 20_000
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(20):
        assert f"{word}{'s' * number}" in analyser.tokens(f"{word}{'s' * number}{extra}")
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < len(word)


def test_a_question_is_read_at_its_beginning_and_its_end() -> None:
    middle = "filler " * MAX_QUESTION_CHARS
    found = set(analyser.query_vector(f"kettle {middle} quokka {middle} teapot")[0])
    assert {token_index("kettl"), token_index("teapot")} <= found
    assert token_index("quokka") not in found


@pytest.mark.parametrize("letter", ["\ufdfa", "\ufdfa ", "ﷻ", "㍿"])
def test_letters_that_stand_for_many_are_read_no_further_than_others(letter: str) -> None:
    assert sum(map(len, analyser.tokens(letter * (MAX_CHARS // len(letter))))) <= 2 * MAX_CHARS


def test_the_date_of_the_longest_text_is_kept() -> None:
    text = searchable_text("x " * (MAX_CHARS // 2), 1_683_554_160_000)
    assert {token_index(token) for token in ("8", "may", "2023")} <= set(analyser.document_vector(text, 17.0)[0])
