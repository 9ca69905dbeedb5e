"""Cuts a write into requests the server takes: its limit is in bytes, ours in records are not."""

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from lithify.store.records import Record

# The server's default limit is 32 MB a request; a quarter leaves room for what the estimate misses.
MAX_BYTES: Final = 8 * 1024 * 1024

# A float as JSON text, with its comma: at most 24 characters for a double.
FLOAT_BYTES: Final = 24


def batches(records: Sequence[Record], max_bytes: int = MAX_BYTES) -> Iterator[list[Record]]:
    """In order; a record larger than the limit travels alone."""
    batch: list[Record] = []
    size = 0
    for record in records:
        weight = weight_of(record)
        if batch and size + weight > max_bytes:
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += weight
    if batch:
        yield batch


def weight_of(record: Record) -> int:
    terms = len(record.lexical.indices) if record.lexical else 0
    floats = sum(vector.size for vector in record.vectors.values()) + 2 * terms
    return len(orjson.dumps(record.payload)) + FLOAT_BYTES * floats
