"""A message that was given up: where it lies, whose it is, what was wrong, and the original."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from lithify.errors import Invalid
from lithify.events import AnyTenant, Event, EveryTenant
from lithify.streams import keys
from lithify.streams.delivery import FIRST_ID, StreamEntry, decode
from lithify.streams.progress import StreamId

MARK: Final = b"dead_"
"""Begins the names of the fields that burying adds to the original ones."""

# As many digits as surely fit into what Redis takes for an id.
_ID: Final = re.compile(r"(\d{1,4})-(\d{1,19})-(\d{1,19})")


class LetterId(NamedTuple):
    """Says where a letter lies; ordered by the time of burial."""

    buried: StreamId
    partition: int

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _ID.fullmatch(text)
        if match is None:
            raise Invalid(f"id: {text[:60]!r} is not a dead letter's id; they look like 0-1700000000000-0")
        partition, ms, number = map(int, match.groups())
        return cls(StreamId(ms, number), partition)

    def __str__(self) -> str:
        return f"{self.partition}-{self.buried}"


@dataclass(frozen=True, slots=True)
class Letter:
    """`event` is None where the payload holds none we can read; `fields` is the original payload, byte for byte."""

    id: LetterId
    stream: str
    group: str
    stream_id: str
    first_id: str
    reason: str
    attempts: int
    first_seen: int
    last_seen: int
    fields: Mapping[bytes, bytes]
    event: Event | None

    @property
    def tenant(self) -> str | None:
        return None if self.event is None else self.event.tenant

    def belongs_to(self, scope: AnyTenant) -> bool:
        """Tells whose a letter is: its tenant's; one that cannot be read is nobody's but the operator's."""
        if isinstance(scope, EveryTenant):
            return True
        event = self.event
        return event is not None and event.tenant == scope.tenant and scope.user in (None, event.user)


def read_letter(letter_id: LetterId, raw: Mapping[bytes, bytes]) -> Letter:
    marks = {name: value.decode(errors="replace") for name, value in raw.items() if name.startswith(MARK)}
    fields = {name: value for name, value in raw.items() if name not in marks}
    stream_id = marks.get(b"dead_id", "")
    stream = marks.get(b"dead_stream") or keys.turns(letter_id.partition)
    return Letter(
        id=letter_id,
        stream=stream,
        group=marks.get(b"dead_group", ""),
        stream_id=stream_id,
        first_id=fields.get(FIRST_ID, stream_id.encode()).decode(errors="replace"),
        reason=marks.get(b"dead_reason", ""),
        attempts=_number(marks.get(b"dead_attempts")),
        first_seen=_number(marks.get(b"dead_first_seen")),
        last_seen=_number(marks.get(b"dead_last_seen")),
        fields=fields,
        event=_event(stream, stream_id, fields),
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _event(stream: str, stream_id: str, fields: Mapping[bytes, bytes]) -> Event | None:
    try:
        return decode(StreamEntry(stream, stream_id, fields, attempt=0)).event
    except Invalid:
        return None
