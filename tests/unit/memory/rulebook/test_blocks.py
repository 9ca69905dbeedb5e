"""Markdown blocks and the head of a file (spec 06)."""

import pytest

from lithify.errors import Invalid
from lithify.memory.rulebook.blocks import BlockKind, read_hop_targets
from lithify.memory.rulebook.document import (
    AuthoredDocument,
    AuthoredNode,
    partition_document,
)

IDENTITY = """---
name: Harbour
hop_targets: [notes.md#000001, "notes.md#000004"]
---

# Harbour

You must stay polite.

> Calm water, clear words.

- Greet first.
- Close the `loop` with [a link](https://example.org).

The harbour was built in 1890.

```sh
make dock
```
"""


def core(markdown: str) -> AuthoredDocument:
    return partition_document(markdown.encode(), "AGENTS.md", core=True)


def texts(nodes: tuple[AuthoredNode, ...]) -> list[str]:
    return [node.text for node in nodes]


def test_positions_point_at_the_first_byte_of_each_node() -> None:
    document = core(IDENTITY)
    starts = [IDENTITY.encode()[node.position :][:6] for node in document.nodes]
    assert starts == [b"---\nna", b"# Harb", b"You mu", b"> Calm", b"- Gree", b"- Clos", b"The ha", b"```sh\n"]


def test_positions_count_bytes_and_skip_the_indent() -> None:
    raw = "\ufeffé ü\r\n\r\n  東京\r\r   - x\n".encode()
    nodes = partition_document(raw, "d", core=False).nodes
    assert [raw[node.position :].split()[0].decode() for node in nodes] == ["é", "東京", "-"]


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("- a *b* `c  d`\n  e\\\n  f\n  - g\n\n    ```\n    h\n    i\n    ```\n", "a b c d e f g h i"),
        ("1. ![alt](x.png) and <name> &amp; [text](u)\n", "alt and <name> & text"),
        ("> one\n>\n> - two\n", "one two"),
        ("Title\n=====\n", "Title"),
        ("soft\nbreak", "soft break"),
        ("    indented\n      code\n", "indented\n  code"),
        ("<div>\n raw\n</div>\n", "<div>\n raw\n</div>"),
    ],
)
def test_node_text_keeps_content_without_markup(markdown: str, text: str) -> None:
    assert texts(core(markdown).nodes) == [text]


def test_blocks_without_text_make_no_node() -> None:
    document = core("---\n---\n\n***\n\n-\n- x\n\n```\n```\n\n>\n")
    assert texts(document.nodes) == ["x"]


def test_unclosed_head_is_body_text() -> None:
    """spec 06.3"""
    document = core("---\ntitle: x\n\n- rule\n")
    assert [(node.kind, node.text) for node in document.nodes] == [
        (BlockKind.PARAGRAPH, "title: x"),
        (BlockKind.LIST, "rule"),
    ]


@pytest.mark.parametrize("end", ["---\n", "...\n", "---"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_head_ends_at_dashes_or_dots(end: str, line_end: str) -> None:
    document = core(f"---\ntitle: x\n{end}".replace("\n", line_end))
    assert [(node.kind, node.text, node.position) for node in document.nodes] == [
        (BlockKind.FRONT_MATTER, "title: x", 0),
    ]


@pytest.mark.parametrize("markdown", ["text\n---\na: b\n---\n", " ---\na: b\n---\n", "----\na: b\n----\n"])
def test_head_must_open_the_file(markdown: str) -> None:
    assert all(node.kind is not BlockKind.FRONT_MATTER for node in core(markdown).nodes)


@pytest.mark.parametrize(
    ("yaml", "targets"),
    [
        ("hop_targets: [a#1, 'b', \"c\", a#1]", ("a#1", "b", "c")),
        ("hop_targets: only", ("only",)),
        ("hop_targets : 'only'", ("only",)),
        ("hop_targets:\n  - a\n- 'b'\n  - a\nother: x\n- z", ("a", "b")),
        ("hop_targets:\nother: x", ()),
        ("hop_targets: []", ()),
        ("x:\n  hop_targets: nested", ()),
        ("no targets here", ()),
    ],
)
def test_hop_targets_in_all_three_forms(yaml: str, targets: tuple[str, ...]) -> None:
    assert read_hop_targets(yaml) == targets


def test_deep_nesting_is_kept_or_refused_but_never_lost() -> None:
    def nested(depth: int) -> str:
        return "\n".join(f"{'  ' * level}- rule{level}" for level in range(depth))

    assert core(nested(18)).hard[0].text.split() == [f"rule{level}" for level in range(18)]
    with pytest.raises(Invalid, match="nested 40 levels deep"):
        core(nested(40))
