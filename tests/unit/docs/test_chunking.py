"""Chunks are small, lose nothing, and keep their names while the file around them is edited (spec 10 §3)."""

import random
from collections.abc import Callable

import pytest

from lithify.docs.chunking import CAP, TARGET, chunk_text
from lithify.docs.outline import slug

WORDS = ("harbour", "crane", "tide", "sluice", "berth", "anchor", "quay", "潮汐", "係留索", "E_PUMP_204", "a/b.md")


def solid(text: str) -> str:
    return "".join(text.split())


def ids(path: str, text: str) -> list[str]:
    return [piece.chunk_id for piece in chunk_text(path, text).chunks]


def made_document(seed: int) -> str:
    """Headings of any level, paragraphs, lists, code and endless words in any order."""
    dice = random.Random(seed)  # noqa: S311 - a made text, not a secret

    def words(most: int) -> str:
        return " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, most)))

    made: list[Callable[[], str]] = [
        lambda: f"{'#' * dice.randint(1, 6)} {words(4)}\n",
        lambda: f"{words(500)}.\n",
        lambda: "".join(f"- {words(30)}\n" for _ in range(dice.randint(1, 60))),
        lambda: f"```\n{words(300)}\n\n# no heading\n```\n",
        lambda: "x" * dice.randint(1, 5000) + "\n",
        lambda: f"> {words(20)}\n\n    indented {words(10)}\n",
        lambda: f"{words(5)}\r\n---\r\n",
        lambda: "| a | b |\n|---|---|\n" + "".join(f"| {words(9)} | {words(9)} |\n" for _ in range(40)),
        lambda: "---\n",
        lambda: "lone\rcarriage\n",
    ]
    return "\n".join(dice.choice(made)() for _ in range(dice.randint(1, 40)))


@pytest.mark.parametrize("suffix", ["md", "rst", "txt"])
@pytest.mark.parametrize("seed", range(12))
def test_chunks_lose_nothing_and_stay_under_the_cap(seed: int, suffix: str) -> None:
    """spec 10.2"""
    text = made_document(seed)
    pieces = chunk_text(f"a.{suffix}", text).chunks
    assert solid("".join(piece.text for piece in pieces)) == solid(text)
    assert max(len(piece.text) for piece in pieces) <= CAP
    assert len({piece.chunk_id for piece in pieces}) == len(pieces)


@pytest.mark.parametrize("seed", range(6))
def test_the_lines_of_a_chunk_are_those_where_it_stands(seed: int) -> None:
    text = made_document(seed)
    lines = text.split("\n")
    for piece in chunk_text("a.md", text).chunks:
        first, last = piece.lines
        assert solid(piece.text) in solid("\n".join(lines[first - 1 : last]))
        assert solid(piece.text.split("\n")[0]) in solid(lines[first - 1])
        assert solid(piece.text.split("\n")[-1]) in solid(lines[last - 1])


def test_equal_headings_get_different_ids() -> None:
    """spec 10.1"""
    assert ids("a.md", "# Notes\n\none\n\n# Notes\n\ntwo\n\n# Notes\n\nthree\n") == ["notes", "notes.2", "notes.3"]


def test_a_growing_section_does_not_move_the_ids_of_equal_headings() -> None:
    long = "Lock the gate. " * 400
    grown = ids("a.md", f"# Notes\n\n{long}\n\n# Notes\n\ntwo\n")
    assert [one for one in grown if "~" not in one] == ["notes", "notes.2"]
    assert len(grown) > 3


def test_text_before_the_first_heading_and_front_matter_are_the_top() -> None:
    [top, first] = chunk_text("a.md", "---\ndate: 2024-01-02\n---\nHello\n\n# One\n\ntext\n").chunks
    assert (top.chunk_id, top.heading_path, top.lines) == ("_top", "", (1, 4))
    assert (first.chunk_id, first.heading_path, first.lines) == ("one", "One", (6, 8))


def test_the_heading_path_leads_from_the_root() -> None:
    body = "text " * 120
    pieces = chunk_text("a.md", f"# A\n\n{body}\n\n## B\n\n{body}\n\n### C\n\n{body}\n\n## D\n\n{body}\n").chunks
    assert [piece.heading_path for piece in pieces] == ["A", "A > B", "A > B > C", "A > D"]


def test_a_heading_without_text_stands_with_the_section_below_it() -> None:
    cut = chunk_text("a.md", "# Handbook\n\n## Berths\n\nKeep them clear.\n")
    assert [(piece.chunk_id, piece.heading_path) for piece in cut.chunks] == [("berths", "Handbook > Berths")]
    assert cut.title == "Handbook"


def test_short_neighbours_under_one_parent_share_a_chunk() -> None:
    text = "# Log\n\nintro\n\n" + "".join(f"## Day {n}\n\nQuiet.\n\n" for n in range(40))
    assert 2 < len(ids("a.md", text)) < 30
    [first, *_] = chunk_text("a.md", "# A\n\none\n\n## B\n\ntwo\n").chunks
    assert "two" not in first.text


def test_code_is_not_cut_unless_it_is_too_long_itself() -> None:
    code = "```\n" + "call(a). Then b.\n\n" * 80 + "```"
    prose = "A sentence about quays. " * 40
    pieces = [
        piece.text for piece in chunk_text("a.md", f"# A\n\n{prose}\n\n{code}\n\n{prose}\n\n- x\n\n{prose}").chunks
    ]
    assert TARGET < len(code) <= CAP
    assert code in pieces
    alone = chunk_text("a.md", "```\n" + "line of code\n" * 400 + "```\n").chunks
    assert len(alone) > 1
    assert all(piece.text.endswith(("code", "```")) for piece in alone)


def test_long_prose_is_cut_between_sentences() -> None:
    pieces = chunk_text("a.md", "The tide is low. " * 300).chunks
    assert all(piece.text.endswith("low.") for piece in pieces)
    assert all(piece.text.endswith("。") for piece in chunk_text("a.md", "潮が引いた。" * 600).chunks)


def test_underlined_headings_of_rst_are_headings() -> None:
    text = "=====\nTides\n=====\n\nIntro.\n\nPumps\n-----\n\nWet.\n\n- a\n\nCranes\n------\n\nTall.\n"
    cut = chunk_text("a.rst", text)
    assert cut.title == "Tides"
    assert cut.chunks[0].heading_path == "Tides"
    assert {heading for piece in cut.chunks for heading in piece.heading_path.split(" > ")} >= {"Tides", "Pumps"}
    assert chunk_text("a.txt", text).chunks[0].chunk_id == "_top"


def test_nothing_gives_nothing() -> None:
    assert chunk_text("a.md", " \n\n\t\n").chunks == ()


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("The `keys.py` file, (part 2)!", "the-keyspy-file-part-2"),
        ("潮汐 表", "潮汐-表"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full-width"),
        ("???", "section"),
        ("_top", "top"),
        ("a - b", "a-b"),
    ],
)
def test_slugs_are_the_same_everywhere(title: str, anchor: str) -> None:
    assert slug(title) == anchor
