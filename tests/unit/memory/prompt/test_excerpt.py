"""Parts of long texts: whole sentences around what was asked, whole characters, and never more than fits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.memory.prompt.excerpt import GAP, cut_around, cut_middle, find_pieces, is_joint
from lithify.memory.tokens import estimate_lines

FILLER = "The weather was fine and nobody had anything to say about it. "
FAMILY = "👩‍👩‍👧"
FLAG = "🇫🇷"
SCRIPTS = (
    FILLER,
    "東京駅前広場で会いましょう。",
    "مرحبا بالعالم؟ ",
    "नमस्ते दुनिया। ",
    FAMILY,
    FLAG,
    "👍🏽",
    "e\u0301",
    "한국어 ",
    "x",
    "\n",
    "\r\n",
    " ",
    ".",
    '{"key":[1,2]},',
    "2026-11-18T09:40:00Z INFO worker[17] status=200\n",
    GAP,
)


def shown_parts(part: str) -> list[str]:
    return [piece.strip() for piece in part.split(GAP) if piece.strip()]


def test_the_sentence_that_answers_is_shown_with_marks_where_something_is_left_out() -> None:
    text = FILLER * 80 + "The spare key of the boathouse lies under the third stone. " + FILLER * 80
    part = cut_around(text, "Where is the key of the boathouse?", lambda t: estimate_lines(t) <= 40)
    assert part is not None
    assert "The spare key of the boathouse lies under the third stone." in part
    assert part.startswith(GAP)
    assert part.endswith(GAP)
    assert estimate_lines(part) <= 40


def test_a_match_deep_in_a_very_long_text_is_found() -> None:
    text = FILLER * 2500 + "The vault opens with 4711-Q. " + FILLER * 900
    assert len(text) > 200_000
    part = cut_around(text, "What opens the vault?", lambda t: estimate_lines(t) <= 48)
    assert part is not None
    assert "4711-Q" in part


def test_a_match_in_text_without_sentences_is_found() -> None:
    log = "".join(f"2026-11-18 worker={n} status=200 path=/v1/items/{n};" for n in range(2000))
    text = log.replace("worker=1234 status=200", "worker=1234 status=503 zanzibar")
    part = cut_around(text, "zanzibar", lambda t: estimate_lines(t) <= 60)
    assert part is not None
    assert "zanzibar" in part


def test_a_match_in_chinese_is_found() -> None:
    text = "今天天气很好。" * 4000 + "备用钥匙在第三块石头下面。" + "我们去吃饭吧。" * 4000
    part = cut_around(text, "备用钥匙", lambda t: estimate_lines(t) <= 60)
    assert part is not None
    assert "备用钥匙在第三块石头下面。" in part


def test_without_a_match_the_beginning_is_shown() -> None:
    text = "First things first. " + FILLER * 100
    part = cut_around(text, "zebra", lambda t: estimate_lines(t) <= 30)
    assert part is not None
    assert part.startswith("First things first.")
    assert part.endswith(GAP)


def test_a_turn_of_the_tail_keeps_its_beginning_and_its_end() -> None:
    text = "Please read this. " + FILLER * 200 + "What do you think?"
    part = cut_middle(text, "", lambda t: estimate_lines(t) <= 60)
    assert part is not None
    assert part.startswith("Please read this.")
    assert part.endswith("What do you think?")
    assert f" {GAP} " in part


def test_little_room_is_shared_by_the_beginning_and_the_end() -> None:
    rows = ", ".join(f'{{"id": {n}, "vet": "Dr. Noriega"}}' for n in range(600))
    part = cut_middle(f'{{"appointments": [{rows}], "status": "truncated"}}', "", lambda t: estimate_lines(t) <= 32)
    assert part is not None
    assert part.startswith('{"appointments"')
    assert part.endswith('"truncated"}')
    assert estimate_lines(part) > 16


def test_nothing_fits_no_room() -> None:
    assert cut_around(FILLER * 9, "weather", lambda t: not t) is None


@pytest.mark.parametrize("character", [FAMILY, FLAG, "👍🏽", "e\u0301\u0323", "नि", "한"])
@pytest.mark.parametrize("size", [6, 7, 13, 60, 240])
def test_no_character_as_it_is_seen_is_split(character: str, size: int) -> None:
    text = character * 100
    for start, end in find_pieces(text, size):
        assert text[start:end].replace(character, "") == ""


def test_cuts_are_told_by_what_stands_at_both_sides() -> None:
    assert is_joint("e\u0301", 1)
    assert is_joint(FLAG, 1)
    assert not is_joint(FLAG * 2, 2)
    assert not is_joint("ab", 1)


@settings(max_examples=60, deadline=None)
@given(
    parts=st.lists(st.tuples(st.sampled_from(SCRIPTS), st.integers(1, 400)), min_size=1, max_size=6),
    query=st.sampled_from(["", "weather worker", "東京", "status 200", "مرحبا"]),
    room=st.integers(8, 400),
    middle=st.booleans(),
)
def test_an_excerpt_fits_and_says_nothing_that_was_not_said(
    parts: list[tuple[str, int]], query: str, room: int, middle: bool
) -> None:
    text = "".join(piece * count for piece, count in parts)
    part = (cut_middle if middle else cut_around)(text, query, lambda t: estimate_lines(t) <= room)
    if part is not None:
        assert estimate_lines(part) <= room
        assert all(piece in text for piece in shown_parts(part))


@pytest.mark.parametrize("piece", SCRIPTS)
@pytest.mark.parametrize("room", [24, 2000])
def test_work_grows_with_the_text_and_no_faster(piece: str, room: int) -> None:
    """Counts what is tried, for no clock is the same twice; a text of 200,000 characters that repeats is the worst."""
    tried = 0

    def fits(text: str) -> bool:
        nonlocal tried
        tried += len(text)
        return estimate_lines(text) <= room

    text = (piece * (200_000 // len(piece) + 1))[:200_000]
    cut_around(text, "weather status", fits)
    cut_middle(text, "weather status", fits)
    assert tried < 2_000_000
