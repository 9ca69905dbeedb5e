import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.events.turn import MAX_TEXT_CHARS
from lithify.memory.pieces import MAX_CODE_PIECES, MAX_PIECES, PIECE_WORDS, WHOLE, count_words, cut_pieces, is_divided

SENTENCE = "The tram to the harbour leaves at nine and comes back before noon. "
FRAGMENTS = st.sampled_from(
    (
        *("a word ", "Ends here. ", "\n", "\n\n", "- item\n", "1. first\n", "  more\n", "# Title\n", "Thus:\n"),
        *(
            "```\n",
            "x = f(1)[0];\n",
            "| a | b |\n",
            "x" * 900,
            "我昨天去了里斯本。",
            "ไปตลาดกับแม่",
            "\t",
            "🇵🇹",
            "\r\n",
            "\u2028",
        ),
        SENTENCE,
    )
)


def squeeze(text: str) -> str:
    return "".join(text.split())


@given(st.lists(FRAGMENTS, max_size=120).map("".join))
@settings(max_examples=300, deadline=None)
def test_pieces_lose_nothing_but_white_space(text: str) -> None:
    pieces = cut_pieces(text)
    assert squeeze("".join(pieces)) == squeeze(text)
    assert len(pieces) == 1 or all(piece and piece == piece.strip() for piece in pieces)


@given(st.lists(FRAGMENTS, max_size=120).map("".join))
@settings(max_examples=300, deadline=None)
def test_no_piece_is_longer_than_a_block_may_be(text: str) -> None:
    pieces = cut_pieces(text)
    coarser = max(1.0, count_words(text) / (PIECE_WORDS * MAX_CODE_PIECES))
    # A cut that would split a character moves on by some code points.
    assert all(count_words(piece) <= WHOLE * PIECE_WORDS * coarser * 2 + 2 for piece in pieces)
    assert len(pieces) <= MAX_PIECES


def test_prose_is_cut_into_sentence_groups_within_the_bound() -> None:
    pieces = cut_pieces(SENTENCE * 40)
    assert len(pieces) > 5
    assert all(count_words(piece) <= PIECE_WORDS and piece.endswith("noon.") for piece in pieces)


def test_a_short_text_is_one_piece_as_it_is() -> None:
    text = "  I moved to Lisbon. \n"
    assert cut_pieces(text) == [text]
    assert not is_divided(text)


def test_a_remainder_is_shared_out() -> None:
    first, second = cut_pieces(SENTENCE * 6)
    assert abs(count_words(first) - count_words(second)) <= count_words(SENTENCE)


def test_a_code_block_stays_whole_with_its_introduction() -> None:
    block = "```python\n" + "".join(f"total_{n} = add(total_{n})\n" for n in range(20)) + "```"
    pieces = cut_pieces(f"{SENTENCE * 5}\n\nRun this:\n\n{block}\n\n{SENTENCE * 5}")
    assert [piece for piece in pieces if "```" in piece] == [f"Run this:\n\n{block}"]


def test_a_heading_stays_with_what_follows_it() -> None:
    pieces = cut_pieces("".join(f"## Part {n}\n\n{SENTENCE * 4}\n\n" for n in range(6)))
    assert all(piece.startswith("## Part") for piece in pieces)
    assert all(not piece.splitlines()[-1].startswith("#") for piece in pieces)


def test_list_items_are_not_cut() -> None:
    items = [f"- Item {n}: {SENTENCE.strip()}\n  It goes on here, number {n}." for n in range(12)]
    pieces = cut_pieces("\n".join(items))
    assert len(pieces) > 1
    assert all(any(item in piece for piece in pieces) for item in items)


def test_a_long_table_is_cut_at_its_rows() -> None:
    rows = [f"| name {n} | some words about number {n} |" for n in range(60)]
    pieces = cut_pieces("\n".join(rows))
    assert len(pieces) > 1
    assert [row for piece in pieces for row in piece.splitlines()] == rows


def test_scripts_without_spaces_are_cut_at_their_sentences() -> None:
    sentences = ["我昨天和妹妹去了里斯本的海边。", "天气很好，我们走了很久！", "你最喜欢哪个城市呢？"]
    pieces = cut_pieces("".join(sentences * 20))
    assert len(pieces) > 3
    assert all(piece.endswith(("。", "！", "？")) and len(piece) <= 2 * PIECE_WORDS for piece in pieces)


@pytest.mark.parametrize(
    "unit",
    ["A", "我", "a ", "- a\n", "# h\n", "a:\n", "```\n", ". ", "x=1;\n", "\n", SENTENCE, f"{SENTENCE}\n```\nx\n```\n"],
)
def test_the_longest_turn_has_bounded_pieces_in_bounded_time(unit: str) -> None:
    text = (unit * MAX_TEXT_CHARS)[:MAX_TEXT_CHARS]
    began = time.process_time()
    pieces = cut_pieces(text)
    assert time.process_time() - began < 5.0
    assert len(pieces) <= MAX_PIECES
    assert squeeze("".join(pieces)) == squeeze(text)


def test_a_log_makes_fewer_pieces_than_prose_of_its_length() -> None:
    log = "2026-01-02 12:00:01 INFO [main] worker=12 status=200 (3ms)\n" * 1000
    prose = SENTENCE * (len(log) // len(SENTENCE))
    assert len(cut_pieces(log)) <= MAX_CODE_PIECES + 2 < len(cut_pieces(prose))
