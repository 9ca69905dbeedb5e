"""What export and import share: records as lines of JSON, over HTTP and in files, and a bar that counts them."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lithify.cli.api import Api
from lithify.cli.console import talk
from lithify.client.refusal import outages, refusal

TOTAL = "x-total-count"


class RecordStream(Api):
    """The connection of the other commands, which can also read an answer that is too large to be held at once."""

    @contextmanager
    def lines(self, path: str) -> Iterator[tuple[int, Iterator[bytes]]]:
        """How many records there are, and the lines as they come. Raises Unavailable if the answer breaks off."""
        with outages(self._url), self._http.stream("GET", path) as response:
            if not response.is_success:
                response.read()
                raise refusal(response)
            yield int(response.headers[TOTAL]), whole_lines(response.iter_bytes())


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """At line feeds only: inside JSON all other line ends are part of what somebody said."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)


def end_of_whole_lines(file: Path) -> int:
    """How many bytes of a file are whole lines; a break leaves a torn one at the end."""
    size = file.stat().st_size
    with file.open("rb") as source:
        for line in source:
            if not line.endswith(b"\n"):
                size -= len(line)
    return size


@contextmanager
def counting(what: str, total: int, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Gives a function to be told how many more are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=talk, disable=not talk.is_terminal) as progress:
        yield partial(progress.advance, progress.add_task(what, total=total, completed=done))
