"""The structure of a text file: its headings and sections, and where it may be cut well."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lithify.memory.normal_form import normalise_form

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

TOP: Final = "_top"
"""The anchor of what stands before the first heading."""

MAX_SLUG: Final = 80

_NOT_IN_SLUG = re.compile(r"[^\w\s-]")
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """Says where a heading stands, and where its text begins."""

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
        """Returns the number of a line, counted from 1."""
        return bisect_right(self.line_starts, offset)


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch from one heading to the next; `trail` are the titles from the root down to its own."""

    start: int
    end: int
    body: int  # where the text after the heading begins
    anchor: str  # unique in the file
    repeated: bool  # an earlier heading has the same slug
    trail: tuple[str, ...]


def read_outline(path: str, text: str) -> Outline:
    """Reads Markdown, reStructuredText by its underlined headings, and anything else as paragraphs."""
    starts = tuple(line.start() for line in _LINE.finditer(text)) or (0,)
    suffix = path.lower().rpartition(".")[2]
    if suffix in ("md", "markdown"):
        return _read_markdown(text, starts)
    headings = tuple(_rst_headings(text, starts)) if suffix == "rst" else ()
    blocks = tuple(match.end() for match in _BLANK_LINES.finditer(text))
    return Outline(text=text, headings=headings, blocks=blocks, fences=(), line_starts=starts)


def front_matter(text: str) -> str:
    """Returns the YAML head of a file without its fences; empty if there is none."""
    head = _FRONT_MATTER.match(text)
    return head["body"] if head else ""


def _read_markdown(text: str, starts: tuple[int, ...]) -> Outline:
    head = _FRONT_MATTER.match(text)
    skipped = text.count("\n", 0, head.end()) if head else 0
    tokens = _MARKDOWN.parse(_with_our_lines(text[head.end() :] if head else text))
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
    return Outline(text=text, headings=headings, blocks=blocks, fences=fences, line_starts=starts)


def _with_our_lines(body: str) -> str:
    """Returns the body with the lines that we count: the parser would also end one at a lone carriage return."""
    return body.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", " ")


def _title(inline: Token) -> str:
    """Returns the visible words of a heading."""
    words = [child.content or " " for child in inline.children or () if child.type in _VISIBLE]
    return " ".join("".join(words).split())


def _rst_headings(text: str, starts: Sequence[int]) -> Iterator[Heading]:
    """Yields underlined headings.

    A style of underline has the level of its first appearance; an overline makes it another style.
    """
    lines = text.split("\n")
    styles: list[tuple[str, bool]] = []
    for number in range(1, len(lines)):
        title = lines[number - 1].strip()
        below = lines[number].rstrip()
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


def split_sections(outline: Outline) -> Iterator[Section]:
    """Yields all of the text, in order.

    An anchor is the slug of its heading, counted from the second of equal ones on.
    """
    text = outline.text
    headings = outline.headings
    seen: Counter[str] = Counter()
    trail: list[Heading] = []
    first = headings[0].offset if headings else len(text)
    if text[:first].strip():
        seen[TOP] += 1
        yield Section(0, first, 0, TOP, repeated=False, trail=())
    ends = (*(heading.offset for heading in headings), len(text))
    for heading, (start, end) in zip(headings, pairwise(ends), strict=True):
        trail = [*(one for one in trail if one.level < heading.level), heading]
        name = slug(heading.title)
        seen[name] += 1
        count = seen[name]
        anchor = name if count == 1 else f"{name}.{count}"
        titles = tuple(one.title for one in trail)
        yield Section(start, end, heading.body, anchor, repeated=count > 1, trail=titles)


def slug(title: str) -> str:
    """Returns letters, digits and underscores in lower case, joined by hyphens: the same on every platform."""
    plain = _NOT_IN_SLUG.sub("", normalise_form("NFKC", title).lower())
    return _GAP.sub("-", plain).strip("-_")[:MAX_SLUG].rstrip("-_") or "section"
