"""Chunks: nothing is lost, nothing is too long, and ids stay where they were."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.docs.chunking import SHORT, Chunk, chunk_markdown
from lithify.docs.outline import normalised
from lithify.docs.splitting import CAP, TARGET

TITLES = ("# One", "## Two", "## Two", "### Drei", "Title\n=====", "   # indented")
PLAIN = ("Words. " * 3, "x" * 2500, "語" * 700, "A sentence. " * 150, "", "", "\ttab", "\u2028")
BLOCKS = ("```", "- item", "> quote", "---", "| a | b |\n|---|---|\n| 1 | 2 |")
LINES = st.sampled_from((*TITLES, *PLAIN, *BLOCKS))
documents = st.lists(LINES, max_size=30).map("\n".join) | st.text(max_size=300)


def chunks(text: str) -> tuple[Chunk, ...]:
    return chunk_markdown(normalised(text)).chunks


def ids(text: str) -> list[str]:
    return [chunk.chunk_id for chunk in chunks(text)]


@settings(max_examples=200, deadline=None)
@given(documents)
def test_no_chunk_is_too_long_and_no_character_is_lost(text: str) -> None:
    """spec 10.2"""
    made = chunks(text)
    assert all(0 < len(chunk.text) <= CAP for chunk in made)
    assert "".join("".join(chunk.text for chunk in made).split()) == "".join(normalised(text).split())
    assert len({chunk.chunk_id for chunk in made}) == len(made)


@settings(max_examples=200, deadline=None)
@given(documents)
def test_lines_lead_back_to_the_text(text: str) -> None:
    lines = normalised(text).split("\n")
    made = chunks(text)
    for chunk in made:
        cited = "\n".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert chunk.text in cited
    assert all(one.last_line <= other.first_line for one, other in pairwise(made))


def test_headings_make_the_path_and_the_anchor() -> None:
    text = f"intro\n# Über *uns*\n{'a ' * 200}\n## C++ & `Rust`\n{'b ' * 200}\n# [Link](x.md)\n{'c ' * 200}"
    made = chunks(text)
    assert [(chunk.chunk_id, chunk.heading_path) for chunk in made] == [
        ("_top", ""),
        ("über-uns", "Über uns"),
        ("c-rust", "Über uns > C++ & Rust"),
        ("link", "Link"),
    ]


def test_equal_headings_and_headings_without_letters_are_told_apart() -> None:
    body = "word " * 100
    assert ids(f"# A\n{body}\n# A\n{body}\n# !\n{body}\n# ?\n{body}") == ["a", "a.2", "section", "section.2"]


def test_a_heading_inside_code_or_front_matter_is_none() -> None:
    made = chunk_markdown("---\ntitle: x\n# no\n---\n# Yes\n\n```\n# no\n```\n")
    assert made.title == "Yes"
    assert [chunk.heading_path for chunk in made.chunks] == ["", "Yes"]
    assert "title: x" in made.front_matter


def test_short_neighbours_share_a_chunk_and_long_ones_do_not() -> None:
    short = "\n".join(f"## S{n}\n\nshort\n" for n in range(40))
    long = "\n".join(f"## S{n}\n\n{'long ' * SHORT}\n" for n in range(3))
    assert len(ids(f"# T\n{short}")) < 20
    assert all(len(chunk.text) <= TARGET for chunk in chunks(f"# T\n{short}"))
    assert {name.partition("~")[0] for name in ids(f"# T\n{long}")} == {"t", "s0", "s1", "s2"}


@pytest.mark.parametrize("edit", ["", "tiny", "y" * SHORT, "A sentence. " * 300])
def test_an_edit_moves_no_id_outside_of_its_group(edit: str) -> None:
    sections = {n: f"## Part {n}\n\n{'text ' * (n % 9)}\n" for n in range(60)}
    before = {chunk.chunk_id: chunk.text for chunk in chunks("# T\n" + "\n".join(sections.values()))}
    sections[30] = f"## Part 30\n\n{edit}\n"
    after = {chunk.chunk_id: chunk.text for chunk in chunks("# T\n" + "\n".join(sections.values()))}
    changed = {name for name in before if before[name] != after.get(name)}
    held = {name for name, text in before.items() if "## Part 30\n" in text}
    assert changed <= held


def test_code_is_cut_only_when_it_is_too_long_by_itself() -> None:
    code = "```\n" + "line\n\n" * 200 + "```"
    made = chunks("# T\n\n" + "word " * 150 + f"\n\n{code}\n\nafter")
    assert any(code in chunk.text for chunk in made)
    assert all("```\n\n" not in chunk.text.removesuffix("```") for chunk in chunks("```\n" + "line\n" * 900 + "```"))


def test_sentences_are_kept_together_where_they_can_be() -> None:
    made = chunks("This is a sentence. " * 300)
    assert all(chunk.text.endswith("sentence.") for chunk in made)
    assert all(len(chunk.text) <= TARGET for chunk in made)


def test_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    text = "# A\n\none\n\n# B\n\ntwo\n"
    assert chunks(text) == chunks(text.replace("\n", "\r\n")) == chunks("\ufeff" + text.replace("\n", "\r"))
