"""The YAML head of an authored file, read as text: only `hop_targets` has a meaning here (spec 06 §2)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

_HEAD = re.compile(rb"---\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands between the fences, trimmed; empty when the file has none."""

    text: str
    hop_targets: tuple[str, ...]
    body_start: int  # byte offset in the file


def read_front_matter(raw: bytes) -> FrontMatter:
    """Both line endings and a leading byte order mark are accepted; an unclosed head is ordinary body text."""
    start = len(_BYTE_ORDER_MARK) if raw.startswith(_BYTE_ORDER_MARK) else 0
    head = _HEAD.match(raw, start)
    if head is None:
        return FrontMatter("", (), start)
    text = head["yaml"].decode().strip()
    return FrontMatter(text, read_hop_targets(text), head.end())


def read_hop_targets(yaml: str) -> tuple[str, ...]:
    """Record ids from an inline list, a single value or `- item` lines; quotes and duplicates go, order stays."""
    lines = iter(yaml.splitlines())
    for line in lines:
        key, colon, value = line.partition(":")
        if colon and key.rstrip() == "hop_targets":
            return _cleaned(_inline_values(value.strip()) if value.strip() else _item_values(lines))
    return ()


def _inline_values(value: str) -> list[str]:
    is_list = value.startswith("[") and value.endswith("]")
    return value[1:-1].split(",") if is_list else [value]


def _item_values(following: Iterable[str]) -> Iterator[str]:
    items = takewhile(lambda line: line.startswith("- "), (line.strip() for line in following))
    return (item[2:] for item in items)


def _cleaned(values: Iterable[str]) -> tuple[str, ...]:
    unquoted = (value.strip().strip("\"'").strip() for value in values)
    return tuple(dict.fromkeys(value for value in unquoted if value))
