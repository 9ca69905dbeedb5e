"""An API key: an id that may be shown, a secret that is shown once, and what is kept to recognise it."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lithify.events.scope import DEFAULT_TENANT
from lithify.events.turn import Identifier

ID_BYTES: Final = 8
# 256 bits cannot be guessed, so a fast digest protects them as well as a slow one protects a password.
SECRET_BYTES: Final = 32

_FORM: Final = re.compile(rf"lf_([0-9a-f]{{{2 * ID_BYTES}}})_([0-9a-f]{{{2 * SECRET_BYTES}}})")


class KeyScope(StrEnum):
    """A key may send turns, read memory, or do everything in its tenant, keys and dead letters included."""

    INGEST = "ingest"
    READ = "read"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Credential:
    """The key as its caller holds it, in parts; printing it shows the id only."""

    id: str
    secret: str = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        return cls(secrets.token_hex(ID_BYTES), secrets.token_hex(SECRET_BYTES))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        match = _FORM.fullmatch(text)
        return None if match is None else cls(*match.groups())

    def reveal(self) -> str:
        """Returns the key itself, for the one answer that hands it out."""
        return f"lf_{self.id}_{self.secret}"

    def digest(self) -> str:
        return hashlib.sha256(self.secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The stored record of a key, without its secret. A revoked one keeps its record and has no digest any more."""

    id: str
    tenant: str
    name: str
    scopes: frozenset[KeyScope]
    created_at: int
    revoked_at: int | None = None
    digest: str = field(default="", repr=False)

    def recognises(self, credential: Credential) -> bool:
        same = hmac.compare_digest(self.digest, credential.digest())
        return same and self.revoked_at is None

    def allows(self, scope: KeyScope) -> bool:
        return not self.scopes.isdisjoint({scope, KeyScope.ADMIN})

    @property
    def is_operator(self) -> bool:
        """Says whether the key looks after the whole installation: the administrator's of the default tenant does."""
        return self.tenant == DEFAULT_TENANT and KeyScope.ADMIN in self.scopes


class ApiKeyRequest(BaseModel):
    """Asks for a new API key; checked once for the command line and HTTP alike."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: Identifier = Field(DEFAULT_TENANT, description="Whose memory the key opens.")
    scopes: frozenset[KeyScope] = Field(min_length=1, description="ingest, read, or admin, which includes both.")
    name: str = Field("", max_length=100, description="What people call it, e.g. the host that uses it.")

    @field_validator("name")
    @classmethod
    def _check_one_line(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("must not contain control characters or line breaks")
        return value
