"""`lithify export` and `lithify import`: records as lines of JSON; both go on after a break where they were."""

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import orjson
import typer

from lithify.batching import batched_by_weight
from lithify.cli.console import emit_json, talk
from lithify.cli.progress import count_items
from lithify.cli.service import AsJson, Url, connect
from lithify.client import Memory
from lithify.client.call import path
from lithify.errors import Invalid
from lithify.settings import load_settings

TOTAL: Final = "x-total-count"
BATCH: Final = 256
# Half of what a service takes by default: JSON grows a little when it is written again.
BATCH_BYTES: Final = 4 * 2**20


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
    done, last = read_exported(output) if resume and output else (0, None)
    wanted = {"vectors": str(vectors).lower()} | ({"user": user} if user else {}) | ({"after": last} if last else {})
    with open_output(output, resume) as sink, connect(load_settings(url=url)) as service:
        written = done + copy_records(service, wanted, sink, done)
    talk.print(f"{written} records exported")


def copy_records(service: Memory, wanted: dict[str, str], sink: BinaryIO, done: int) -> int:
    """Writes the records as they come and returns their number. Raises Unavailable if the answer breaks off."""
    written = 0
    with service.stream(path("export"), wanted) as response:
        total = int(response.headers[TOTAL])
        with count_items("export", total, done) as advance:
            for line in split_lines(response.iter_bytes()):
                sink.write(line)
                written += 1
                advance(1)
    return written


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yields lines, cut at line feeds only: inside JSON all other line ends are part of what somebody said."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)


def open_output(output: Path | None, resume: bool) -> "nullcontext[BinaryIO] | BinaryIO":
    if output is None:
        return nullcontext(sys.stdout.buffer)
    if output.exists() and not resume:
        raise Invalid(f"{output} exists; --resume goes on with it")
    return open(output, "ab", opener=open_private)


def open_private(path: str, flags: int) -> int:
    """Opens a file that is its owner's alone: everything the tenant has said is in an export."""
    return os.open(path, flags, 0o600)


def read_exported(output: Path) -> tuple[int, str | None]:
    """Counts the whole records of a file and finds the id of the last one; a torn line at its end is cut off."""
    if not output.exists():
        return 0, None
    with output.open("r+b") as file:
        file.truncate(end_of_whole_lines(output))
        number, last = deque(enumerate(file, 1), maxlen=1).pop() if output.stat().st_size else (0, b"")
    try:
        return number, orjson.loads(last)["id"] if last else None
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise Invalid(f"{output} is not an export: its last line is no record") from error


def end_of_whole_lines(file: Path) -> int:
    """Counts the bytes of whole lines; a break leaves a torn one at the end."""
    size = file.stat().st_size
    with file.open("rb") as source:
        for line in source:
            if not line.endswith(b"\n"):
                size -= len(line)
    return size


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Says how far a file was imported, and where to; another service or a changed file starts from the beginning."""

    url: str
    size: int
    lines: int = 0

    @classmethod
    def read(cls, file: Path, url: str) -> "Bookmark":
        fresh = cls(url, file.stat().st_size)
        try:
            known = cls(**orjson.loads(bookmark_file(file).read_bytes()))
        except (FileNotFoundError, orjson.JSONDecodeError, TypeError):
            return fresh
        return known if (known.url, known.size) == (fresh.url, fresh.size) else fresh

    def write(self, file: Path) -> None:
        bookmark_file(file).write_bytes(orjson.dumps(asdict(self)))


def bookmark_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.imported")


def import_records(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Lines of an export.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Store the records of an export in the tenant of the key; running it again doubles nothing."""
    settings = load_settings(url=url)
    bookmark = Bookmark.read(file, settings.url)
    if bookmark.lines:
        talk.print(f"going on behind line {bookmark.lines}")
    with connect(settings) as service:
        totals = send_records(service, file, bookmark)
    bookmark_file(file).unlink(missing_ok=True)
    if as_json:
        emit_json(totals)
    else:
        talk.print(f"{totals['stored']} records imported, {totals['embedded']} of them embedded anew")


def send_records(service: Memory, file: Path, bookmark: Bookmark) -> dict[str, int]:
    """Sends the lines behind the bookmark, which moves on with every batch that is stored."""
    totals = {"stored": 0, "embedded": 0}
    with file.open("rb") as lines:
        total = sum(1 for _ in lines)
    with file.open("rb") as source, count_items("import", total, bookmark.lines) as advance:
        remaining = number_lines(source, bookmark.lines)
        for batch in batched_by_weight(remaining, lambda line: len(line[1]), BATCH_BYTES, BATCH):
            records = [parse_record(number, line) for number, line in batch]
            answer = service.request_json("POST", path("import"), {"records": records})
            for name in totals:
                totals[name] += answer[name]
            Bookmark(bookmark.url, bookmark.size, batch[-1][0]).write(file)
            advance(len(batch))
    return totals


def number_lines(source: Iterable[bytes], skipped: int) -> Iterator[tuple[int, bytes]]:
    """Yields the lines behind those that are done, without blank ones."""
    return ((number, line) for number, line in enumerate(source, 1) if number > skipped and line.strip())


def parse_record(number: int, line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"line {number} is not JSON ({error}); what stands before it was imported") from error
