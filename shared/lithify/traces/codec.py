"""The stored form of a receipt: JSON, cut to a bound, its numbers rounded, compressed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
import zstandard

MAX_BYTES: Final = 256 * 1024
# Of a text inside a receipt; only a question can be longer.
MAX_TEXT: Final = 4096
# What single precision holds: vectors are of that, and further digits of a score compress to nothing but noise.
DIGITS: Final = 7
# The first bytes of a zstd frame, which no JSON begins with.
_MAGIC: Final = b"\x28\xb5\x2f\xfd"


def pack_trace(receipt: Mapping[str, Any], *, exact: bool = False) -> bytes:
    """Returns the bytes to keep, about a tenth of the receipt's JSON; `exact` keeps every digit of its numbers."""
    kept = receipt if exact else round_numbers(receipt)
    return zstandard.ZstdCompressor().compress(shrink_receipt(kept))


def unpack_trace(data: bytes) -> dict[str, Any]:
    """Reads what `pack_trace` wrote, and receipts of releases that kept plain JSON. Raises ValueError for neither."""
    try:
        plain = zstandard.ZstdDecompressor().decompress(data) if data.startswith(_MAGIC) else data
    except zstandard.ZstdError as error:
        raise ValueError(f"a receipt is damaged: {error}") from error
    receipt: dict[str, Any] = orjson.loads(plain)
    return receipt


def round_numbers(value: Any) -> Any:
    """Returns the value with its fractions rounded to `DIGITS` significant digits, however deep they lie."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case Mapping():
            return {name: round_numbers(inner) for name, inner in value.items()}
        case list() | tuple():
            return [round_numbers(inner) for inner in value]
    return value


def shrink_receipt(receipt: Mapping[str, Any], limit: int = MAX_BYTES) -> bytes:
    """Returns the receipt as JSON of at most `limit` bytes: lists lose their end, which is their worst, texts theirs.

    `shortened` says how much of what is gone; a receipt without it is complete.
    """
    data = orjson.dumps(receipt)
    if len(data) <= limit:
        return data
    kept: dict[str, Any] = orjson.loads(data)
    shortened: dict[str, int] = {}
    for name, text in _long_texts(kept):
        kept[name] = text[:MAX_TEXT]
        shortened[name] = len(text) - MAX_TEXT
    while len(data := orjson.dumps(kept | {"shortened": shortened})) > limit:
        name, rows = max(_lists(kept), key=lambda item: len(orjson.dumps(item[1])))
        half = len(rows) // 2
        shortened[name] = shortened.get(name, 0) + len(rows) - half
        del rows[half:]
    return data


def _long_texts(receipt: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, value) for name, value in receipt.items() if isinstance(value, str) and len(value) > MAX_TEXT]


def _lists(receipt: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """Yields the lists that have something to lose, those inside a part under the part's name and their own."""
    for name, value in receipt.items():
        if isinstance(value, list) and value:
            yield name, value
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", rows) for inner, rows in value.items() if isinstance(rows, list) and rows)
