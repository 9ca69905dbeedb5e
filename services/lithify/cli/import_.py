"""`lithify import`: stores the records of an export; after a break it goes on where it was."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from lithify.batching import batched_by_weight
from lithify.cli.api import Api
from lithify.cli.console import emit_json, talk
from lithify.cli.query import AsJson, Url
from lithify.cli.record_lines import counting
from lithify.errors import Invalid
from lithify.settings import Settings, load_settings

BATCH: Final = 256
# Half of what a service takes by default: JSON grows a little when it is written again.
BATCH_BYTES: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far a file was imported, and where to; another service or a changed file starts from the beginning."""

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


def import_records(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Lines of an export.")],
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Store the records of an export in the tenant of the key; running it again doubles nothing."""
    settings = load_settings(url=url)
    totals = {"stored": 0, "embedded": 0}
    bookmark = Bookmark.read(file, settings.url)
    if bookmark.lines:
        talk.print(f"going on behind line {bookmark.lines}")
    send(settings, file, bookmark, totals)
    bookmark_file(file).unlink(missing_ok=True)
    if as_json:
        emit_json(totals)
    else:
        talk.print(f"{totals['stored']} records imported, {totals['embedded']} of them embedded anew")


def send(settings: Settings, file: Path, bookmark: Bookmark, totals: dict[str, int]) -> None:
    api = Api(settings)
    with file.open("rb") as lines:
        total = sum(1 for _ in lines)
    with file.open("rb") as source, counting("import", total, bookmark.lines) as advance:
        lines_left = numbered(source, bookmark.lines)
        for batch in batched_by_weight(lines_left, lambda line: len(line[1]), BATCH_BYTES, BATCH):
            records = [parsed(number, line) for number, line in batch]
            answer = api.call("POST", "/v1/import", {"records": records})
            for name in totals:
                totals[name] += answer[name]
            Bookmark(bookmark.url, bookmark.size, batch[-1][0]).write(file)
            advance(len(batch))


def numbered(source: Iterable[bytes], skipped: int) -> Iterator[tuple[int, bytes]]:
    """The lines behind those that are done, without blank ones."""
    return ((number, line) for number, line in enumerate(source, 1) if number > skipped and line.strip())


def parsed(number: int, line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"line {number} is not JSON ({error}); what stands before it was imported") from error


def bookmark_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.imported")
