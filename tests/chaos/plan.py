"""What is to be sent and when, all of it decided by the seed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from tests.chaos.ledger import TENANTS, Mark, Turn, find_marks

# Long enough to be compacted several times, and not so long that compacting them is all that happens.
TURNS_PER_SESSION: Final = 100
SESSIONS_PER_USER: Final = 7
SOURCES: Final = 40
SOURCE_SHARE: Final = 0.1
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
class Load:
    seed: int
    turns: int
    seconds: float

    @property
    def sessions(self) -> int:
        """Returns how many sessions each tenant has, under the same names."""
        return max(SESSIONS_PER_USER * 2, self.turns // TURNS_PER_SESSION // len(TENANTS))


@dataclass(frozen=True, slots=True)
class Parcel:
    """One request, due at a time. `again` repeats it after success, `forged` then sends other content under its id."""

    due_s: float
    turns: tuple[Turn, ...]
    single: bool
    again: bool
    forged: bool


def tenant_of(connection: int) -> str:
    """Returns whose host a connection is."""
    return TENANTS[connection % len(TENANTS)]


def parcels(load: Load, connection: int, turns: int) -> Iterator[Parcel]:
    """Yields the requests of one connection, spread evenly over the time.

    Two neighbouring connections are hosts of two tenants that use the same ids for different things.
    """
    random = Random(f"{load.seed}/{connection}")  # noqa: S311 - repeatable on purpose
    tenant = tenant_of(connection)
    sent = 0
    while sent < turns:
        single = random.random() < SINGLE_SHARE
        size = 1 if single else min(random.randint(1, LARGEST_BATCH), turns - sent)
        pair = connection // len(TENANTS)
        batch = tuple(make_turn(random, load, tenant, (pair, sent + n)) for n in range(size))
        again, forged = random.random() < AGAIN_SHARE, random.random() < FORGED_SHARE
        yield Parcel(load.seconds * sent / turns, batch, single, again, forged)
        sent += size


def make_turn(random: Random, load: Load, tenant: str, place: tuple[int, int]) -> Turn:
    session = random.randrange(load.sessions)
    # A few turns are long, most are short, as in conversations.
    words = random.choices(WORDS, k=min(600, 3 + int(random.expovariate(1 / 20))))
    [role] = random.choices(ROLES, ROLE_WEIGHTS)
    pair, number = place
    mark = Mark(tenant, f"{load.seed}-{pair}-{number}", 1)
    return Turn(
        tenant=tenant,
        event_id=f"{load.seed}/{pair}: n° {number}",
        user=f"user {session // SESSIONS_PER_USER}",
        session=f"session:{session}",
        role=role,
        text=f"{mark} {' '.join(words)}",
        source_ref=f"mail/{random.randrange(SOURCES)}" if random.random() < SOURCE_SHARE else None,
    )


def revive(turn: Turn, life: int | None = None) -> Turn:
    """Returns the turn as it is said again, in its next life unless another is named."""
    [mark] = find_marks(turn.text)
    again = replace(mark, life=mark.life + 1 if life is None else life)
    return replace(turn, text=turn.text.replace(str(mark), str(again)))


def forge(turn: Turn) -> Turn:
    """Returns other content under the same id, which nobody may ever see again."""
    return revive(turn, life=0)
