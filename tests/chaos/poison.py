"""Messages that no worker can digest, put on the streams past the gateway, which would refuse them."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import orjson

from lithify.streams.groups import ARCHIVE, EMBED
from lithify.streams.progress import StreamId
from tests.chaos.forgetting import Subject
from tests.chaos.ledger import TENANTS
from tests.chaos.plan import SESSIONS_PER_USER

MARK: Final = "poison"
NOWHERE: Final = StreamId(0, 0)


@dataclass(frozen=True, slots=True)
class Poison:
    """A stream entry. One that is readable fails the embedding worker only: the archive keeps it like any event.

    It belongs to a user of the load, and is forgotten with whatever that user said. `stream_id` is where it lies.
    """

    fields: Mapping[str, str]
    subject: Subject | None = None
    stream_id: StreamId = NOWHERE

    @property
    def kills_in(self) -> tuple[str, ...]:
        return (EMBED, ARCHIVE) if self.subject is None else (EMBED,)


def brew(random: Random, mark: str, sessions: int) -> Poison:
    session = random.randrange(sessions)
    subject = Subject(
        tenant=random.choice(TENANTS),
        event_id=f"poison {mark}",
        user=f"user {session // SESSIONS_PER_USER}",
        session=f"session:{session}",
    )
    envelope = {
        "v": 1,
        "event_id": subject.event_id,
        "tenant": subject.tenant,
        "user": subject.user,
        "session": subject.session,
        "role": "user",
        "text": "bad",
        "ts": 1,
    }
    unreadable: tuple[Mapping[str, str], ...] = (
        {"event": f"not JSON {mark}"},
        {"turn": "an entry of some other program"},
        {"event": _json(envelope | {"v": 99})},
        {"event": _json({name: value for name, value in envelope.items() if name != "text"})},
        {"event": _json(envelope), "seq": "first"},
    )
    # Half of it can be read: only that can be forgotten.
    if random.random() < 0.5:
        return Poison({**random.choice(unreadable), MARK: mark})
    return Poison({"event": _json(envelope | {"role": "narrator"}), MARK: mark}, subject)


def _json(envelope: Mapping[str, object]) -> str:
    return orjson.dumps(envelope).decode()
