"""The structure of a text file: its headings, and where it may be cut well."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

Span = tuple[int, int]
"""Start and end of a stretch of the text, as offsets."""

_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*\r?\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
# The characters reStructuredText allows for underlines; a shorter line is text.
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANK_LINES = re.compile(r"\n(?:[ \t\r]*\n)+")
_VISIBLE: Final = ("text", "code_inline", "softbreak", "hardbreak")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True, slots=True)
class Heading:
    offset: int
    body: int  # where the text below it begins
    level: int  # 1 is the highest
    title: str


@dataclass(frozen=True, slots=True)
class Outline:
    """`blocks` are where paragraphs, lists, tables and code begin; `fences` are stretches of code."""

    text: str
    headings: tuple[Heading, ...]
    blocks: tuple[int, ...]
    fences: tuple[Span, ...]
    line_starts: tuple[int, ...]

    def line_of(self, offset: int) -> int:
        """Counted from 1."""
        return bisect_right(self.line_starts, offset)


def outline(path: str, text: str) -> Outline:
    """Reads Markdown, reStructuredText by its underlined headings, and anything else as paragraphs."""
    starts = tuple(line.start() for line in _LINE.finditer(text)) or (0,)
    suffix = path.lower().rpartition(".")[2]
    if suffix in ("md", "markdown"):
        return _markdown(text, starts)
    headings = tuple(_underlined(text, starts)) if suffix == "rst" else ()
    return Outline(text, headings, tuple(match.end() for match in _BLANK_LINES.finditer(text)), (), starts)


def front_matter(text: str) -> str:
    """The YAML head of a file without its fences; empty if there is none."""
    head = _FRONT_MATTER.match(text)
    return head["body"] if head else ""


def _markdown(text: str, starts: tuple[int, ...]) -> Outline:
    head = _FRONT_MATTER.match(text)
    skipped = text.count("\n", 0, head.end()) if head else 0
    tokens = _MARKDOWN.parse(_as_parsed(text[head.end() :] if head else text))
    ends = (*starts, len(text))

    def span(token: Token) -> Span:
        first, last = token.map or (0, 0)
        return ends[min(first + skipped, len(starts))], ends[min(last + skipped, len(starts))]

    headings = tuple(
        Heading(*span(token), int(token.tag[1:]), _title(inline))
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0
    )
    blocks = tuple(span(token)[0] for token in tokens if token.map and token.level == 0)
    fences = tuple(span(token) for token in tokens if token.type in ("fence", "code_block"))
    return Outline(text, headings, blocks, fences, starts)


def _as_parsed(body: str) -> str:
    """With the lines that we count: the parser would also end one at a lone carriage return."""
    return body.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")


def _title(inline: Token) -> str:
    words = [child.content or " " for child in inline.children or () if child.type in _VISIBLE]
    return " ".join("".join(words).split())


def _underlined(text: str, starts: Sequence[int]) -> Iterator[Heading]:
    """A style of underline has the level of its first appearance; an overline makes it another style."""
    lines = text.split("\n")
    styles: list[tuple[str, bool]] = []
    for number in range(1, len(lines)):
        title, below = lines[number - 1].strip(), lines[number].rstrip()
        if not _is_underline(below, title) or _UNDERLINE.fullmatch(title):
            continue
        over = number >= 2 and lines[number - 2].rstrip() == below
        if not over and (lines[number - 1][:1].isspace() or (number >= 2 and lines[number - 2].strip())):
            continue
        style = (below[0], over)
        if style not in styles:
            styles.append(style)
        body = starts[number + 1] if number + 1 < len(starts) else len(text)
        yield Heading(starts[number - 2 if over else number - 1], body, styles.index(style) + 1, title)


def _is_underline(line: str, title: str) -> bool:
    """Wide characters take two columns, so an underline may be longer, but not much shorter, than its title."""
    return bool(title and _UNDERLINE.fullmatch(line)) and len(line) + 2 >= len(title)
