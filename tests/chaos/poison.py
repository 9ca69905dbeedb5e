"""Messages that no worker can digest, put on the streams past the gateway, which would refuse them."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

import orjson

from lithify.events.scope import DEFAULT_TENANT
from lithify.streams.groups import ARCHIVE, EMBED

MARK: Final = "poison"


@dataclass(frozen=True, slots=True)
class Poison:
    """A stream entry. One that is readable fails the embedding worker only: the archive keeps it like any event."""

    fields: Mapping[str, str]
    event_id: str | None = None

    @property
    def kills_in(self) -> tuple[str, ...]:
        return (EMBED, ARCHIVE) if self.event_id is None else (EMBED,)


def brew(random: Random, mark: str) -> Poison:
    envelope = {
        "v": 1,
        "event_id": f"poison {mark}",
        "tenant": DEFAULT_TENANT,
        "user": "u",
        "session": "s",
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
    if random.randrange(len(unreadable) + 1):
        return Poison({**random.choice(unreadable), MARK: mark})
    return Poison({"event": _json(envelope | {"role": "narrator"}), MARK: mark}, f"poison {mark}")


def _json(envelope: Mapping[str, object]) -> str:
    return orjson.dumps(envelope).decode()
