"""The two places the command line writes to."""

import sys
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
