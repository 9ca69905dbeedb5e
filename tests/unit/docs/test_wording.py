"""Whatever way a date, a hash or a path is written, a question written otherwise meets it."""

from datetime import date

import pytest

from lithify.docs.document import Chunk
from lithify.docs.terms import EXACT_WEIGHT
from lithify.docs.wording import chunk_vector, dates_in, query_vector, synonyms, ts_hint
from lithify.memory.lexical.analyser import LexicalAnalyser, token_index

ANALYSER = LexicalAnalyser()
DAY = date(2023, 10, 5)
FULL_HASH = "9fceb02d0ae598e95dc970b74767f19372d61af8"


def chunk(text: str, path: str = "notes.md", ts: str | None = None) -> Chunk:
    return Chunk(
        *("acme", "harbour", path, "_top", text, "Notes", "Notes"),
        doc_kind="other",
        ts_hint=ts,
        source_kind="operator",
        source_ref=f"harbour/{path}",
        trust="untrusted",
        content_hash="h",
    )


def overlap(question: str, found: Chunk) -> int:
    words = chunk_vector(found, ANALYSER).indices
    return len(set(query_vector(question, ANALYSER).indices) & set(words))


@pytest.mark.parametrize(
    "written",
    [
        *("2023-10-05", "2023/10/05", "2023.10.5", "5 October 2023", "5th of Oct. 2023", "October 5, 2023"),
        *("oct 5th 2023", "2023年10月5日", "2023 年 10 月 5 日"),
    ],
)
def test_a_date_is_read_in_every_form(written: str) -> None:
    assert set(dates_in(f"done on {written}, at last")) == {DAY}


@pytest.mark.parametrize("written", ["2023-13-05", "31 June 2023", "12023-10-05", "version 1.10.5", "2023-10/05"])
def test_what_is_no_date_is_not_taken_for_one(written: str) -> None:
    assert list(dates_in(written)) == []


@pytest.mark.parametrize(
    ("path", "text", "hint"),
    [
        ("a.md", "---\ndate: 2023-10-05\n---\ntext", "2023-10-05"),
        ("2020-01-01.md", '---\nDate: "2023-10-05T10:00"\n---\n', "2023-10-05"),
        ("2020-01-01.md", "---\ndate: 2023-99-05\n---\n", "2020-01-01"),
        ("logs/2020-01-01/note.md", "text", "2020-01-01"),
        ("a.md", "on 2023-10-05 we met", None),
        ("a.md", "date: 2023-10-05", None),
    ],
)
def test_a_document_is_dated_by_its_front_matter_then_its_path(path: str, text: str, hint: str | None) -> None:
    assert ts_hint(path, text) == hint


@pytest.mark.parametrize("length", [7, 8, 12, 40])
def test_any_beginning_of_a_hash_finds_it_and_is_found_by_it(length: int) -> None:
    begun = FULL_HASH[:length]
    assert overlap(begun, chunk(f"see {FULL_HASH.upper()}"))
    assert overlap(FULL_HASH, chunk(f"see {begun}."))
    assert not overlap(FULL_HASH[1:8], chunk(f"see {FULL_HASH}"))


def test_numbers_and_words_are_no_hashes() -> None:
    assert synonyms("1700000000000 deadbeefcafe effaceeffaced", ANALYSER) == []


def test_the_end_of_a_path_finds_it() -> None:
    found = chunk("see shared/lithify/Streams/keys.py.")
    assert overlap("streams/keys.py", found) == len(query_vector("streams/keys.py", ANALYSER).indices)
    assert "keys.py" in synonyms("a/b/keys.py", ANALYSER)


def test_the_place_of_a_chunk_counts_as_its_words() -> None:
    found = chunk("text", path="ops/tide-gauge.md", ts="2023-10-05")
    assert overlap("tide-gauge", found)
    assert overlap("October 2023", found) == 2


@pytest.mark.parametrize("question", ["", " ", '"', "*", "( )", "\x00"])
def test_a_question_without_words_asks_for_nothing(question: str) -> None:
    assert query_vector(question, ANALYSER).indices == ()


def test_a_name_weighs_more_than_its_parts_and_other_words() -> None:
    vector = query_vector("which pump calls valve_guard", ANALYSER, exact=("valve_guard",))
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert weights.pop(token_index("valve_guard")) == EXACT_WEIGHT
    assert weights.keys() >= {token_index(token) for token in ANALYSER.tokens("valve guard pump")}
    assert set(weights.values()) == {1.0}
