"""A key as somebody asks for it, checked once for the command line and HTTP alike."""

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lithify.access.key import KeyScope
from lithify.events.scope import DEFAULT_TENANT
from lithify.events.turn import Identifier


class WantedKey(BaseModel):
    """Asks for a new API key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: Identifier = Field(DEFAULT_TENANT, description="Whose memory the key opens.")
    scopes: frozenset[KeyScope] = Field(min_length=1, description="ingest, read, or admin, which includes both.")
    name: str = Field("", max_length=100, description="What people call it, e.g. the host that uses it.")

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("must not contain control characters or line breaks")
        return value
