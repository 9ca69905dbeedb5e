"""What is asked and answered about dead letters."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from lithify.streams import LetterId

MAX_IDS = 1_000
MAX_PAGE = 200


class LetterSummary(BaseModel):
    """A message that was given up; times in ms."""

    id: str
    reason: str
    attempts: int
    first_seen: int
    last_seen: int
    group: str = Field(description="The consumer group that gave it up.")
    stream: str
    stream_id: str
    event_id: str | None = Field(description="Null if the payload cannot be read.")
    tenant: str | None
    user: str | None
    session: str | None


class LetterPage(BaseModel):
    letters: list[LetterSummary]
    next: str | None = Field(description="Give this as `before` for the next page.")


class LetterDetail(LetterSummary):
    """Adds the original payload, field by field; bytes that are not UTF-8 appear as \\x escapes."""

    payload: dict[str, str]


class Selection(BaseModel):
    """Letters by id, or all of them."""

    model_config = {"extra": "forbid"}

    ids: list[str] | None = Field(None, min_length=1, max_length=MAX_IDS)
    all: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if sum(self._choices()) != 1:
            raise ValueError(f"give exactly one of {', '.join(type(self).model_fields)}")
        return self

    def _choices(self) -> list[bool]:
        return [self.ids is not None, self.all]

    def letter_ids(self) -> list[LetterId] | None:
        return None if self.ids is None else [LetterId.parse(text) for text in self.ids]


class PurgeSelection(Selection):
    """Letters by id, all of them, or those buried longer ago than some time."""

    older_than_s: int | None = Field(None, ge=0)

    def _choices(self) -> list[bool]:
        return [*super()._choices(), self.older_than_s is not None]


class Redriven(BaseModel):
    redriven: int
    gone: list[str] = Field(description="Redriven or purged before.")
    superseded: list[str] = Field(description="Left alone: the event id was accepted anew since, with newer content.")


class Purged(BaseModel):
    purged: int
