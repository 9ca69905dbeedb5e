"""Reads benchmark files and their dates, and says exactly where one of them is malformed."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from lithify.errors import Invalid

_NUMBER = re.compile(r"(\d+)")


class FileRow(BaseModel):
    """Part of a benchmark's file; what the evaluation does not use may be there and is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


R = TypeVar("R", bound=FileRow)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from error


def read_json(path: Path) -> Any:
    return _parse_json(read_bytes(path), str(path))


def read_rows(path: Path, row: type[R]) -> list[R]:
    """Reads the rows of a file with one JSON object a line; blank lines are skipped."""
    return [parse_row(row, _parse_json(line, place), place) for place, line in _numbered_lines(path)]


def read_json_lines(path: Path, most: int | None = None) -> list[Any]:
    """Reads the values of a file with one a line, or so many of them; blank lines are skipped."""
    return [_parse_json(line, place) for place, line in islice(_numbered_lines(path), most)]


def _numbered_lines(path: Path) -> Iterator[tuple[str, bytes]]:
    lines = enumerate(read_bytes(path).splitlines(), 1)
    return ((f"{path} line {number}", line) for number, line in lines if line.strip())


def list_files(path: Path, *suffixes: str) -> list[Path]:
    """Returns the file itself, or those of a folder that end so; numbers in their names count as numbers."""
    if not path.is_dir():
        return [path]
    found = [file for file in path.iterdir() if file.suffix in suffixes and file.is_file()]
    return sorted(found, key=lambda file: [int(p) if p.isdigit() else p for p in _NUMBER.split(file.name)])


def only_file(path: Path, matches: Callable[[Any], bool]) -> Path:
    """Returns the file itself, or the one of a folder that matches. Raises Invalid unless there is just one."""
    files = list_files(path, ".json")
    fitting = files if files == [path] else [file for file in files if matches(read_json(file))]
    if len(fitting) != 1:
        raise Invalid(f"{path} holds {len(fitting)} files of this form; name one of them")
    return fitting[0]


def flatten_ids(value: Any) -> Iterator[str]:
    """Yields a number, or the numbers in lists and named groups, as text."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from flatten_ids(part)
    elif value is not None:
        yield str(value)


def read_list(path: Path, row: type[R]) -> list[R]:
    """Reads the items of a file that holds one JSON list."""
    items = read_json(path)
    if not isinstance(items, list):
        raise Invalid(f"{path} must hold a JSON list, not {type(items).__name__}")
    return [parse_row(row, item, f"{path} item {number}") for number, item in enumerate(items)]


def parse_row(row: type[R], value: Any, where: str) -> R:
    try:
        return row.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise Invalid(f"{where}: {f'{field}: ' if field else ''}{first['msg']}") from None


def digest(paths: Sequence[Path]) -> str:
    """Hashes the files' contents in one, as `cat FILES | sha256sum` does."""
    total = sha256()
    for path in paths:
        total.update(read_bytes(path))
    return total.hexdigest()


def _parse_json(content: bytes, where: str) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"{where} is not JSON: {error}") from None


FORMATS = (
    "%I:%M %p on %d %B, %Y",  # LoCoMo: 1:56 pm on 8 May, 2023
    "%Y/%m/%d (%a) %H:%M",  # LongMemEval: 2023/05/20 (Sat) 02:21
    "%B-%d-%Y",  # BEAM: March-15-2024
    "%d.%m.%Y, %H:%M:%S",  # REALTALK: 29.12.2023, 16:05:31
)


def read_date(text: str) -> int:
    """Returns milliseconds since 1970. Raises Invalid for what neither a benchmark nor ISO 8601 writes."""
    for form in FORMATS:
        try:
            return _milliseconds(datetime.strptime(text.strip(), form))  # noqa: DTZ007 - the zone is set next
        except ValueError:
            continue
    try:
        return _milliseconds(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise Invalid(f"date {text!r} is in no known form, e.g. '1:56 pm on 8 May, 2023' or ISO 8601") from None


def _milliseconds(moment: datetime) -> int:
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(zoned.timestamp() * 1000)
