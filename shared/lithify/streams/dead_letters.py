"""Messages that were given up, and what an operator does with them: look at them, send them again, throw them away."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Self, cast

from redis.asyncio import Redis

from lithify.errors import Invalid
from lithify.events import AnyTenant, Clock, Event, EveryTenant
from lithify.streams import keys, script
from lithify.streams.delivery import FIRST_ID, StreamEntry, decode
from lithify.streams.outage import outages
from lithify.streams.progress import StreamId

MARK: Final = b"dead_"
"""Begins the names of the fields that burying adds to the original ones."""

# Letters read per call; each may carry a turn of the largest size.
PAGE: Final = 50

Outcome = Literal["redriven", "gone", "superseded"]
"""Gone: redriven or purged before, or not of this scope. Superseded: the event id was accepted anew since."""

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
    return Letter(
        id=letter_id,
        stream=marks.get(b"dead_stream") or keys.turns(letter_id.partition),
        group=marks.get(b"dead_group", ""),
        stream_id=stream_id,
        first_id=fields.get(FIRST_ID, stream_id.encode()).decode(errors="replace"),
        reason=marks.get(b"dead_reason", ""),
        attempts=_number(marks.get(b"dead_attempts")),
        first_seen=_number(marks.get(b"dead_first_seen")),
        last_seen=_number(marks.get(b"dead_last_seen")),
        fields=fields,
        event=_event(fields),
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _event(fields: Mapping[bytes, bytes]) -> Event | None:
    try:
        return decode(StreamEntry("", "", fields, attempt=0)).event
    except Invalid:
        return None


class DeadLetters:
    """The dead letters of all partitions. Every call sees its scope's only, and raises Unavailable in an outage."""

    def __init__(self, redis: Redis, partitions: int, clock: Clock) -> None:
        self._redis = redis
        self._partitions = partitions
        self._clock = clock

    async def newest(self, scope: AnyTenant, limit: int, before: LetterId | None = None) -> list[Letter]:
        """Returns at most `limit` letters, the last buried first.

        `before`, the last one of a page, gives the next page.
        """
        found: list[Letter] = []
        for partition in range(self._partitions):
            found += [letter async for letter in self._scan(scope, partition, _below(partition, before), limit)]
        return sorted(found, key=lambda letter: letter.id, reverse=True)[:limit]

    async def ids(self, scope: AnyTenant, buried_before_ms: int | None = None) -> list[LetterId]:
        """Returns all letters there are now, the first buried first.

        Redriving all does not go round with what dies again.
        """
        before = None if buried_before_ms is None else LetterId(StreamId(max(0, buried_before_ms), 0), 0)
        found: list[LetterId] = []
        for partition in range(self._partitions):
            found += [letter.id async for letter in self._scan(scope, partition, _below(partition, before))]
        return sorted(found)

    async def find(self, scope: AnyTenant, letter_id: LetterId) -> Letter | None:
        if letter_id.partition >= self._partitions:
            return None
        at = str(letter_id.buried)
        page = await self._page(letter_id.partition, at, at)
        return next((letter for letter in page if letter.belongs_to(scope)), None)

    async def redrive(self, scope: AnyTenant, ids: Iterable[LetterId]) -> dict[LetterId, Outcome]:
        """Puts letters back onto their streams as new messages, with all their attempts before them.

        Each is one atomic step that may be repeated. An event whose effect is there already is harmless: effects are
        idempotent. The tail is left alone, the event is in it since it was accepted.
        """
        return {letter_id: await self._redrive(await self.find(scope, letter_id)) for letter_id in dict.fromkeys(ids)}

    async def purge(self, scope: AnyTenant, ids: Iterable[LetterId]) -> int:
        """Deletes letters for good and returns how many were there."""
        doomed: defaultdict[int, list[str]] = defaultdict(list)
        for letter_id in ids:
            if await self.find(scope, letter_id):
                doomed[letter_id.partition].append(str(letter_id.buried))
        with outages():
            return sum([int(await self._redis.xdel(keys.dead(p), *found)) for p, found in doomed.items()])

    async def _redrive(self, letter: Letter | None) -> Outcome:
        if letter is None:
            return "gone"
        names = [keys.dead(letter.id.partition), letter.stream]
        if letter.event is not None:
            names.append(keys.receipt(letter.event.tenant, letter.event.event_id))
        # A receipt names the entry in `turns`; of a message on another stream, and never redriven, we do not know it.
        accepted_here = letter.stream == keys.turns(letter.id.partition)
        expected = letter.first_id if accepted_here else ""
        args: list[str | bytes | int] = [str(letter.id.buried), letter.first_id, expected, self._clock()]
        with outages():
            reply: bytes = await script.load("redrive").run(self._redis, names, args)
        return cast("Outcome", reply.decode())

    async def _scan(
        self, scope: AnyTenant, partition: int, below: str, limit: int | None = None
    ) -> AsyncIterator[Letter]:
        """Yields letters of one partition, the last buried first, page by page."""
        yielded = 0
        while page := await self._page(partition, below, "-"):
            for letter in page:
                if yielded == limit:
                    return
                if letter.belongs_to(scope):
                    yielded += 1
                    yield letter
            below = f"({page[-1].id.buried}"

    async def _page(self, partition: int, highest: str, lowest: str) -> list[Letter]:
        with outages():
            reply = await self._redis.xrevrange(keys.dead(partition), highest, lowest, PAGE)
        entries = cast("list[tuple[bytes, dict[bytes, bytes]]]", reply)
        return [read_letter(LetterId(StreamId.parse(entry), partition), fields) for entry, fields in entries]


def _below(partition: int, before: LetterId | None) -> str:
    """Returns the highest id a partition may contribute to a page that ends above `before`."""
    if before is None:
        return "+"
    if before.buried == StreamId(0, 0):
        return "0-0"  # nothing can lie here, and Redis refuses to look below it
    # Letters of the same moment are ordered by partition, so lower partitions still have theirs to give.
    return str(before.buried) if partition < before.partition else f"({before.buried}"
