"""What a line must be to become a record: every known field of its type and in its bounds, whoever wrote the line."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from lithify.events.turn import MAX_SEQ, MAX_TS_MS, Meta, Text, check_printable
from lithify.store.memory_record import LISTS, NAMES, MemoryRecord
from lithify.store.scoping import PLACE

# As many characters as any identifier of a turn may have, and the names of documents.
MAX_NAME: Final = 256
# Estimates are far below one token a character; anything larger is no estimate of a text of legal length.
MAX_TOKENS: Final = 2**31

Name = Annotated[str, StringConstraints(max_length=MAX_NAME), AfterValidator(check_printable)]
Words = Annotated[str, StringConstraints(max_length=4 * MAX_NAME)]
Moment = Annotated[int, Field(ge=0, le=MAX_TS_MS)]
Figure = Annotated[float, Field(allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]

_MEMORY: Final = TypeAdapter(MemoryRecord)


class LineageLaw(BaseModel):
    """What is read of a summary's lineage; it may say more."""

    model_config = ConfigDict(extra="ignore", strict=True)

    source_ts_min: Figure | None = None
    source_ts_max: Figure | None = None
    compacted_at: Figure | None = None
    align: Figure | None = None
    cover: Figure | None = None
    conf_embed: Figure | None = None
    conf_decoder: Figure | None = None
    support_tokens: int | None = None
    parent_summary_ids: list[Name] = Field(default_factory=list)
    support_summary_ids: list[Name] = Field(default_factory=list)


class FieldLaw(BaseModel):
    """The bounds of known fields. Their types are those of `MemoryRecord`; fields of a newer release are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True)

    kind: Annotated[Name, StringConstraints(min_length=1, max_length=64)]
    user: Name
    text: Text
    ts: Moment
    scope: Literal["session", "user", "global"]
    session: Name | None = None
    event_id: Name | None = None
    role: Annotated[Name, StringConstraints(max_length=64)] | None = None
    agent: Name | None = None
    bundle_id: Name | None = None
    reply_to: Name | None = None
    source_kind: Name | None = None
    source_ref: Name | None = None
    provenance: Name | None = None
    compacted_into: Name | None = None
    supersedes: Name | None = None
    superseded_by: Name | None = None
    superseded_by_turn: Name | None = None
    method: Name | None = None
    seq: Annotated[int, Field(ge=0, lt=MAX_SEQ)] | None = None
    token_estimate: Annotated[int, Field(ge=0, lt=MAX_TOKENS)] = 0
    anchors: Weight = 0.0
    stability: Weight = 0.0
    gating_score: Figure | None = None
    confidence: Weight | None = None
    decay_rate: Weight = 0.0
    authority: Weight | None = None
    accepted: Moment | None = None
    meta: Meta | None = None
    lineage: LineageLaw | None = None
    source_ids: list[Name] = Field(default_factory=list)
    mentions: list[Name] = Field(default_factory=list)
    claims: list[Words] = Field(default_factory=list)
    hop_targets: list[Words] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_companions(self) -> Self:
        """Demands what those who read the one field take for granted."""
        if self.kind == "turn" and self.seq is not None and self.session is None:
            raise ValueError("a turn with a position (seq) needs its session")
        if (self.claims or self.compacted_into) and not self.event_id:
            raise ValueError("what was compacted, or states something (claims), needs its event_id")
        if self.kind == "summary" and self.session is not None and not self.source_ids:
            raise ValueError("a summary needs source_ids, the turns it covers")
        return self


def check_record(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the payload as it may be stored. Raises ValueError, with the name of the field, if it may not."""
    if PLACE in payload:
        raise ValueError(f"{PLACE}: the name is reserved")
    try:
        # As JSON, since that has no tuples: a list of it is one.
        line = orjson.dumps({**payload, "tenant": ""})
        FieldLaw.model_validate_json(line)
        memory = _MEMORY.validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except TypeError as error:
        raise ValueError(f"cannot be written as JSON: {error}") from error
    known = {name: getattr(memory, name) for name in NAMES & payload.keys()}
    return {**payload, **known, **{name: list(known[name]) for name in LISTS if name in known}}
