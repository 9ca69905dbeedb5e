"""Markdown to a flat run of blocks, each with its plain text and its place in the file (spec 06 §2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from lithify.errors import Invalid

# The parser silently drops what lies deeper, and its own default of 20 would lose a rule ten lists down.
MAX_NESTING = 40


class Kind(StrEnum):
    FRONT_MATTER = "YAMLFrontmatter"
    LIST = "List"
    BLOCKQUOTE = "Blockquote"
    PARAGRAPH = "Paragraph"
    HEADING = "Heading"
    CODE = "CodeBlock"
    HTML = "HTMLBlock"


@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    text: str
    position: int  # byte offset of its first character in the file


_LISTS = frozenset({"bullet_list", "ordered_list"})
# Besides lists and quotes CommonMark has no container, and a thematic break has no text.
_KINDS = {
    "blockquote": Kind.BLOCKQUOTE,
    "paragraph": Kind.PARAGRAPH,
    "heading": Kind.HEADING,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
    "html_block": Kind.HTML,
}


def read_blocks(raw: bytes, start: int) -> list[Block]:
    """The blocks of the Markdown that begins at byte `start`; blocks without text are left out.

    Raises `Invalid` for text nested so deeply that the parser would drop some of it.
    """
    positions = _first_characters(raw[start:], start)
    blocks = (
        Block(kind, _block_text(kind, node), positions[_first_line(node)])
        for kind, node in _top_level(_tree(raw[start:].decode()))
    )
    return [block for block in blocks if block.text]


def _first_characters(body: bytes, start: int) -> list[int]:
    """File offset of the first character after the indent of every line; `bytes` splits where the parser does."""
    lines = body.splitlines(keepends=True)
    offsets = accumulate(map(len, lines), initial=start)
    return [offset + len(line) - len(line.lstrip(b" \t")) for offset, line in zip(offsets, lines, strict=False)]


def _first_line(node: SyntaxTreeNode) -> int:
    return node.map[0] if node.map else 0


def _tree(markdown: str) -> SyntaxTreeNode:
    tokens = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).parse(markdown)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        raise Invalid(f"lists or quotes nested {MAX_NESTING} levels deep; flatten the document")
    return SyntaxTreeNode(tokens)


def _top_level(root: SyntaxTreeNode) -> Iterator[tuple[Kind, SyntaxTreeNode]]:
    for node in root.children:
        if node.type in _LISTS:
            yield from ((Kind.LIST, item) for item in node.children)
        elif node.type in _KINDS:
            yield _KINDS[node.type], node


def _block_text(kind: Kind, node: SyntaxTreeNode) -> str:
    if kind in {Kind.CODE, Kind.HTML}:
        return node.content.strip()
    return " ".join("".join(_fragments(node)).split())


def _fragments(node: SyntaxTreeNode) -> Iterator[str]:
    """All text below the node; inline markup leaves only what it encloses, blocks and line breaks a blank."""
    for part in node.walk():
        if part.block or part.type in {"softbreak", "hardbreak"}:
            yield " "
        if not part.children:
            yield part.content
