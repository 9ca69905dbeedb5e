"""A message as a consumer holds it: the raw entry, and the event inside it."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lithify.errors import Invalid
from lithify.events import Event, decode_event

FIRST_ID: Final = b"first_id"
"""Field of a redriven message: the id of the entry it first came as."""


class StreamEntry(NamedTuple):
    """One stream entry delivered to this consumer, not looked into yet. A tuple, for one is made per message."""

    stream: str
    stream_id: str
    fields: Mapping[bytes, bytes]
    attempt: int  # 1 on first delivery; Redis counts, we only read

    @property
    def size(self) -> int:
        return sum(map(len, self.fields.values()))


class Delivery(NamedTuple):
    entry: StreamEntry
    event: Event

    @property
    def stream_id(self) -> str:
        return self.entry.stream_id

    @property
    def attempt(self) -> int:
        return self.entry.attempt


def decode(entry: StreamEntry) -> Delivery:
    """Reads the event of an entry. Raises Invalid for one that holds no event we can read."""
    envelope = entry.fields.get(b"event")
    if envelope is None:
        raise Invalid(f"entry {entry.stream_id} has no field 'event'")
    return Delivery(entry, decode_event(envelope, _position(entry.fields.get(b"seq"))))


def decode_all(entries: Iterable[StreamEntry]) -> tuple[list[Delivery], list[tuple[StreamEntry, str]]]:
    """Returns the readable ones as deliveries, and the others with what is wrong with them."""
    readable: list[Delivery] = []
    unreadable: list[tuple[StreamEntry, str]] = []
    for entry in entries:
        try:
            readable.append(decode(entry))
        except Invalid as error:
            unreadable.append((entry, str(error)))
    return readable, unreadable


def _position(value: bytes | None) -> int | None:
    if value is None:
        return None
    if not value.isdigit():
        raise Invalid(f"field 'seq' must be a number, not {value[:20]!r}")
    return int(value)
