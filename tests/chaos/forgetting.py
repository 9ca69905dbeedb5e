"""What is to be forgotten in the middle of the load, and whom a forgetting means."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from random import Random
from types import MappingProxyType
from typing import Final

from lithify.streams.progress import StreamId


class TargetKind(StrEnum):
    USER = "user"
    SESSION = "session"
    SOURCE = "source"
    EVENT = "memory"  # one turn, forgotten through the memory that was made of it


# Per minute, both tenants together. Every forgetting rewrites the archive and waits for whoever holds what it means.
RATES: Final = MappingProxyType(
    {TargetKind.USER: 1.5, TargetKind.SESSION: 3.0, TargetKind.SOURCE: 1.5, TargetKind.EVENT: 6.0}
)
# A forgetting reads the whole archive: in long runs there are as many as in three minutes, spread over all the time.
MOST_MINUTES: Final = 3.0
# Not before there is something to forget, nor so late that nothing would be said afterwards.
FIRST, LAST = 0.15, 0.9


@dataclass(frozen=True, slots=True)
class Target:
    """Matched by equality. `name` is the session, the source or the event; a source is forgotten for all users."""

    tenant: str
    kind: TargetKind
    user: str | None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a forgetting looks at to tell whether it means an event."""

    tenant: str
    event_id: str
    user: str
    session: str
    source_ref: str | None = None

    def targets(self) -> Iterator[Target]:
        """Yields every target that means it."""
        yield Target(self.tenant, TargetKind.USER, self.user)
        yield Target(self.tenant, TargetKind.SESSION, self.user, self.session)
        yield Target(self.tenant, TargetKind.EVENT, self.user, self.event_id)
        if self.source_ref is not None:
            yield Target(self.tenant, TargetKind.SOURCE, None, self.source_ref)


@dataclass(frozen=True, slots=True)
class Erasure:
    """A job that forgets, as it was found: whom it means, up to which moment, and how it ended."""

    job_id: str
    targets: tuple[Target, ...]
    before_ms: int
    status: str = "finished"
    verified: bool = True

    def reaches(self, stream_id: StreamId) -> bool:
        return stream_id.ms <= self.before_ms


@dataclass(frozen=True, slots=True)
class Wish:
    """Something is to be forgotten at a time; `choice` picks it among what has been said by then.

    Of each kind the tenants wish in turns, by `number`.
    """

    at_s: float
    number: int
    kind: TargetKind
    choice: int


def wishes(seed: int, seconds: float) -> list[Wish]:
    """Every kind comes at least twice, so that both tenants have their turn."""
    random = Random(f"{seed}/forgetting")  # noqa: S311 - repeatable on purpose
    made = [
        Wish(seconds * random.uniform(FIRST, LAST), number, kind, random.randrange(2**32))
        for kind, rate in RATES.items()
        for number in range(max(2, ceil(rate * min(seconds / 60, MOST_MINUTES))))
    ]
    return sorted(made, key=lambda wish: wish.at_s)
