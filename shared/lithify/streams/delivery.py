"""A message as a consumer holds it: the raw entry, and the event inside it."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lithify.errors import Invalid
from lithify.events import Event, decode_event
from lithify.streams import keys

FIRST_ID: Final = b"first_id"
"""Field of a message that was sent on or again: the id of the entry in `turns` that it was accepted as."""


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
    return Delivery(entry, decode_event(envelope, _position(entry.fields.get(b"seq")), accepted_ms(entry)))


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


def tenant_of(entry: StreamEntry) -> str | None:
    """Returns whose event an entry holds; None where it holds none we can read."""
    try:
        return decode(entry).event.tenant
    except Invalid:
        return None


def accepted_id(entry: StreamEntry) -> str | None:
    """Returns the id an event was accepted under, whatever became of it since; None if the entry does not tell."""
    first = entry.fields.get(FIRST_ID)
    if first is not None:
        return first.decode()
    return entry.stream_id if entry.stream.startswith(keys.TURNS) else None


def accepted_ms(entry: StreamEntry) -> int | None:
    ms = (accepted_id(entry) or "").partition("-")[0]
    return int(ms) if ms.isdecimal() else None


def _position(value: bytes | None) -> int | None:
    if value is None:
        return None
    if not value.isdigit():
        raise Invalid(f"field 'seq' must be a number, not {value[:20]!r}")
    return int(value)
