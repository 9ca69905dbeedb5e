"""A stored record as one line of an export, and back: with all that another installation needs to store it anew."""

from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from lithify.events.turn import MAX_TS_MS
from lithify.store import TIER_NAMES, Record, Vector, point_id
from lithify.store.memory import Memory
from lithify.store.migration import NATURAL_KEYS

# What people look for comes first; the rest follows by name.
FIRST: Final = ("kind", "tenant", "user", "session", "event_id", "role", "ts", "text", "active")
REQUIRED: Final = ("kind", "user", "text", "ts")

_MEMORY: Final = TypeAdapter(Memory)


class Link(BaseModel):
    """What a record is known by wherever it is stored; its id differs with tenant and model."""

    model_config = ConfigDict(frozen=True)

    kind: str
    key: str

    @classmethod
    def to(cls, record: Record) -> Self | None:
        kind = str(record.payload.get("kind"))
        try:
            return cls(kind=kind, key=NATURAL_KEYS[kind](record.payload))
        except (LookupError, TypeError, ValueError):
            return None

    def id_in(self, tenant: str, family: str) -> str:
        return point_id(tenant, self.kind, self.key, family)


class ExportedRecord(BaseModel):
    """One line. Everything but these fields is the record's payload and is kept as it is."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(max_length=64)
    kind: str = Field(min_length=1, max_length=64)
    user: str = Field(max_length=256, description="Empty for what belongs to all users of the tenant.")
    text: str
    ts: int = Field(ge=0, le=MAX_TS_MS)
    links: dict[str, Link] = Field(default_factory=dict, description="What ids in the payload stand for.")
    vectors: dict[str, list[float]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_a_memory(self) -> Self:
        try:
            _MEMORY.validate_python({"tenant": "", **self.payload()})
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        return self

    def payload(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in REQUIRED} | (self.model_extra or {})

    def tiers(self) -> dict[str, Vector]:
        return {name: np.array(values, np.float32) for name, values in self.vectors.items()}


def export_line(record: Record, links: Mapping[str, Link]) -> bytes:
    payload = record.payload
    line: dict[str, Any] = {"id": record.id}
    line |= {name: payload[name] for name in FIRST if name in payload}
    line |= {name: payload[name] for name in sorted(payload) if name not in FIRST}
    if links:
        line["links"] = {id_: link.model_dump() for id_, link in links.items()}
    if record.vectors:
        line["vectors"] = {
            name: np.asarray(record.vectors[name], np.float32) for name in TIER_NAMES if name in record.vectors
        }
    return orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
