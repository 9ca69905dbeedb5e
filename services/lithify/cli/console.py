"""The two places the command line writes to, and how values look there."""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
from rich.console import Console

talk = Console(stderr=True, highlight=False)
"""Messages, progress and errors."""

data = Console(highlight=False, soft_wrap=True)
"""What a command was asked for, readable by people."""


def emit_json(value: Any) -> None:
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.flush()


def warn_degraded(reasons: Iterable[str]) -> None:
    for reason in reasons:
        talk.print(f"degraded: {reason}", markup=False)


def excerpt(text: str, width: int = 160) -> str:
    """Shortens a text for a cell of a table, where brackets would be read as markup."""
    return shorten(text, width).replace("[", r"\[")


def shorten(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def format_time(ms: int | None, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Returns a time in UTC, and nothing for one that is not known."""
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime(form)


def format_minute(ms: int | None) -> str:
    return format_time(ms, "%Y-%m-%d %H:%M")
