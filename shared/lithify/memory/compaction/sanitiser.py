"""Hides pasted code and encoded data from the summariser; what is stored never passes through here (spec 05 §3)."""

import re
from itertools import groupby

FENCE_CHARS = 240
FENCE_INNER_LINES = 8
DATA_LINE_CHARS = 64
BLOB_LINE_CHARS = 96

CODE_OMITTED = "[code block omitted]"
DATA_OMITTED = "[data omitted]"
NOTHING_LEFT = "[no readable text]"

# The info string of a backtick fence holds no backtick; otherwise it is inline code.
_FENCE = re.compile(r"\A\s*(?P<fence>`{3,}(?=[^`]*$)|~{3,}).*")
_BLOB = re.compile(r"[A-Za-z0-9+/_-]{80}|[0-9A-Fa-f]{64}")


def sanitise(text: str) -> str:
    """Returns the summariser's view of one turn; it is never empty."""
    lines = [_readable(line) for line in _without_long_fences(text.splitlines())]
    return "\n".join(_single_blanks(lines)).strip() or NOTHING_LEFT


def _without_long_fences(lines: list[str]) -> list[str]:
    kept: list[str] = []
    start = 0
    while start < len(lines):
        end = _block_end(lines, start)
        block = lines[start:end]
        kept += [CODE_OMITTED] if _is_long_fence(block) else block
        start = end
    return kept


def _block_end(lines: list[str], start: int) -> int:
    """Returns one past the fence that opens at `start`, or one past the line; an unclosed fence runs to the end."""
    opening = _FENCE.fullmatch(lines[start])
    if not opening:
        return start + 1
    closing = (at for at in range(start + 1, len(lines)) if _closes(lines[at], opening["fence"]))
    return next(closing, len(lines) - 1) + 1


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return mark.startswith(fence) and not mark.strip(fence[0])


def _is_long_fence(block: list[str]) -> bool:
    opening = _FENCE.fullmatch(block[0])
    if not opening:
        return False
    inner = block[1:-1] if _closes(block[-1], opening["fence"]) else block[1:]
    return len("\n".join(block)) >= FENCE_CHARS or len(inner) >= FENCE_INNER_LINES


def _readable(line: str) -> str:
    if len(line) >= DATA_LINE_CHARS and line.lstrip()[:5].lower() == "data:":
        return DATA_OMITTED
    if len(line) >= BLOB_LINE_CHARS and _BLOB.search(line):
        return DATA_OMITTED
    return line


def _single_blanks(lines: list[str]) -> list[str]:
    runs = groupby(lines, key=lambda line: bool(line.strip()))
    return [line for has_text, run in runs for line in (run if has_text else [""])]
