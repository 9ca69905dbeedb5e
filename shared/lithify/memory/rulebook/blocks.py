"""Markdown to a flat run of blocks, each with plain text and its place in the file, after a YAML head (spec 06 §2)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, takewhile

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from lithify.errors import Invalid

# The parser silently drops what lies deeper, and its own default of 20 would lose a rule ten lists down.
MAX_NESTING = 40
_HEAD = re.compile(rb"---\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BlockKind(StrEnum):
    FRONT_MATTER = "YAMLFrontmatter"
    LIST = "List"
    BLOCKQUOTE = "Blockquote"
    PARAGRAPH = "Paragraph"
    HEADING = "Heading"
    CODE = "CodeBlock"
    HTML = "HTMLBlock"


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    kind: BlockKind
    text: str
    position: int  # byte offset of its first character in the file


_LISTS = frozenset({"bullet_list", "ordered_list"})
# Besides lists and quotes CommonMark has no container, and a thematic break has no text.
_KINDS = {
    "blockquote": BlockKind.BLOCKQUOTE,
    "paragraph": BlockKind.PARAGRAPH,
    "heading": BlockKind.HEADING,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "html_block": BlockKind.HTML,
}


def read_blocks(raw: bytes, start: int) -> list[MarkdownBlock]:
    """Reads the blocks of the Markdown that begins at byte `start`; blocks without text are left out.

    Raises `Invalid` for text nested so deeply that the parser would drop some of it.
    """
    positions = _first_characters(raw[start:], start)
    blocks = (
        MarkdownBlock(kind, _block_text(kind, node), positions[_first_line(node)])
        for kind, node in _top_level(_tree(raw[start:].decode()))
    )
    return [block for block in blocks if block.text]


def _first_characters(body: bytes, start: int) -> list[int]:
    """Returns each line's file offset of its first character after the indent; `bytes` splits where the parser does."""
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


def _top_level(root: SyntaxTreeNode) -> Iterator[tuple[BlockKind, SyntaxTreeNode]]:
    for node in root.children:
        if node.type in _LISTS:
            yield from ((BlockKind.LIST, item) for item in node.children)
        elif node.type in _KINDS:
            yield _KINDS[node.type], node


def _block_text(kind: BlockKind, node: SyntaxTreeNode) -> str:
    if kind in {BlockKind.CODE, BlockKind.HTML}:
        return node.content.strip()
    return " ".join("".join(_fragments(node)).split())


def _fragments(node: SyntaxTreeNode) -> Iterator[str]:
    """Yields all text below the node; inline markup leaves only what it encloses, blocks and line breaks a blank."""
    for part in node.walk():
        if part.block or part.type in {"softbreak", "hardbreak"}:
            yield " "
        if not part.children:
            yield part.content


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """It is what stands between the fences, trimmed; it is empty when the file has none."""

    text: str
    hop_targets: tuple[str, ...]
    body_start: int  # byte offset in the file


def read_front_matter(raw: bytes) -> FrontMatter:
    """Accepts both line endings and a leading byte order mark; an unclosed head is ordinary body text."""
    start = len(_BYTE_ORDER_MARK) if raw.startswith(_BYTE_ORDER_MARK) else 0
    head = _HEAD.match(raw, start)
    if head is None:
        return FrontMatter("", (), start)
    text = head["yaml"].decode().strip()
    return FrontMatter(text, read_hop_targets(text), head.end())


def read_hop_targets(yaml: str) -> tuple[str, ...]:
    """Reads ids from an inline list, a single value or `- item` lines; quotes and duplicates go, order stays."""
    lines = iter(yaml.splitlines())
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and key.rstrip() == "hop_targets":
            return _clean_values(_inline_values(value.strip()) if value.strip() else _item_values(lines))
    return ()


def _inline_values(value: str) -> list[str]:
    is_list = value.startswith("[") and value.endswith("]")
    return value[1:-1].split(",") if is_list else [value]


def _item_values(following: Iterable[str]) -> Iterator[str]:
    items = takewhile(lambda line: line.startswith("- "), (line.strip() for line in following))
    return (item[2:] for item in items)


def _clean_values(values: Iterable[str]) -> tuple[str, ...]:
    unquoted = (value.strip().strip("\"'").strip() for value in values)
    return tuple(dict.fromkeys(value for value in unquoted if value))
