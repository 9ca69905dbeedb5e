"""What is to be sent and when, all of it decided by the seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from tests.chaos.ledger import Turn

SESSIONS: Final = 120
USERS: Final = 17
LARGEST_BATCH: Final = 64
SINGLE_SHARE: Final = 0.8
AGAIN_SHARE: Final = 0.05
FORGED_SHARE: Final = 0.02

VOCABULARY: Final = (
    "tram harbour Lisbon café 木曜日 ключ 🚲 invoice rule budget sister violin always never prefer Thursday 1987 "
    "deadline lemon blue quiet north remember moved works allergic coffee because server release garden"
)
WORDS: Final = tuple(VOCABULARY.split())
ROLES: Final = ("user", "assistant", "system", "tool")
ROLE_WEIGHTS: Final = (45, 45, 5, 5)


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request, due at a time. `again` repeats it after success, `forged` then sends other content under its id."""

    due_s: float
    turns: tuple[Turn, ...]
    single: bool
    again: bool
    forged: bool


def parcels(seed: int, connection: int, turns: int, seconds: float) -> Iterator[Parcel]:
    """The requests of one connection, spread evenly over the time."""
    random = Random(f"{seed}/{connection}")  # noqa: S311 - repeatable on purpose
    sent = 0
    while sent < turns:
        single = random.random() < SINGLE_SHARE
        size = 1 if single else min(random.randint(1, LARGEST_BATCH), turns - sent)
        batch = tuple(turn(random, f"{seed}/{connection}: n° {sent + n}") for n in range(size))
        again, forged = random.random() < AGAIN_SHARE, random.random() < FORGED_SHARE
        yield Parcel(seconds * sent / turns, batch, single, again, forged)
        sent += size


def turn(random: Random, event_id: str) -> Turn:
    session = random.randrange(SESSIONS)
    # A few turns are long, most are short, as in conversations.
    words = random.choices(WORDS, k=min(600, 3 + int(random.expovariate(1 / 20))))
    [role] = random.choices(ROLES, ROLE_WEIGHTS)
    return Turn(event_id, f"user {session % USERS}", f"session:{session}", role, f"{event_id} {' '.join(words)}")
