"""`lithify export`: prints every record as a line of JSON, or writes a file and goes on with it after a break."""

import sys
from collections import deque
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import urlencode

import orjson
import typer

from lithify.cli.console import talk
from lithify.cli.query import Url
from lithify.cli.record_lines import RecordStream, counting, end_of_whole_lines
from lithify.errors import Invalid
from lithify.settings import load_settings


def export(
    user: Annotated[str | None, typer.Option(help="Only this user's records.")] = None,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With the dense vectors: larger, quicker to import.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write this file instead of the standard output.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with --output where it broke off.")] = False,
    url: Url = None,
) -> None:
    """Print every record of the tenant as a line of JSON, in the order of their ids."""
    if resume and output is None:
        raise Invalid("--resume needs --output: the file to go on with")
    done, last = kept_lines(output) if resume and output else (0, None)
    wanted = {"vectors": str(vectors).lower()} | ({"user": user} if user else {}) | ({"after": last} if last else {})
    with opened(output, resume) as sink:
        written = done + copy(RecordStream(load_settings(url=url)), f"/v1/export?{urlencode(wanted)}", sink, done)
    talk.print(f"{written} records exported")


def copy(api: RecordStream, path: str, sink: BinaryIO, done: int) -> int:
    with api.lines(path) as (total, lines), counting("export", total, done) as advance:
        written = 0
        for line in lines:
            sink.write(line)
            written += 1
            advance(1)
    return written


def opened(output: Path | None, resume: bool) -> "nullcontext[BinaryIO] | BinaryIO":
    if output is None:
        return nullcontext(sys.stdout.buffer)
    if output.exists() and not resume:
        raise Invalid(f"{output} exists; --resume goes on with it")
    return output.open("ab")


def kept_lines(output: Path) -> tuple[int, str | None]:
    """How many whole records a file holds and the id of the last one; a torn line at its end is cut off."""
    if not output.exists():
        return 0, None
    with output.open("r+b") as file:
        file.truncate(end_of_whole_lines(output))
        number, last = deque(enumerate(file, 1), maxlen=1).pop() if output.stat().st_size else (0, b"")
    try:
        return number, orjson.loads(last)["id"] if last else None
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise Invalid(f"{output} is not an export: its last line is no record") from error
