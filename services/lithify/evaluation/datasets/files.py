"""Reads benchmark files and says exactly where one of them is malformed."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from lithify.errors import Invalid


class Row(BaseModel):
    """Part of a benchmark's file; what the evaluation does not use may be there and is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


R = TypeVar("R", bound=Row)


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from error


def read_json(path: Path) -> Any:
    return _parsed(read_bytes(path), str(path))


def read_rows(path: Path, row: type[R]) -> list[R]:
    """The rows of a file with one JSON object a line; blank lines are skipped."""
    lines = enumerate(read_bytes(path).splitlines(), 1)
    where = ((f"{path} line {number}", line) for number, line in lines if line.strip())
    return [checked(row, _parsed(line, place), place) for place, line in where]


def read_list(path: Path, row: type[R]) -> list[R]:
    """The items of a file that holds one JSON list."""
    items = read_json(path)
    if not isinstance(items, list):
        raise Invalid(f"{path} must hold a JSON list, not {type(items).__name__}")
    return [checked(row, item, f"{path} item {number}") for number, item in enumerate(items)]


def checked(row: type[R], value: Any, where: str) -> R:
    try:
        return row.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise Invalid(f"{where}: {f'{field}: ' if field else ''}{first['msg']}") from None


def digest(paths: Sequence[Path]) -> str:
    """As of the files' contents in one: `cat FILES | sha256sum`."""
    total = sha256()
    for path in paths:
        total.update(read_bytes(path))
    return total.hexdigest()


def _parsed(content: bytes, where: str) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"{where} is not JSON: {error}") from None
