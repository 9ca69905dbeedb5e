"""An API key: an id that may be shown, a secret that is shown once, and what is kept to recognise it."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Self

ID_BYTES: Final = 8
# 256 bits cannot be guessed, so a fast digest protects them as well as a slow one protects a password.
SECRET_BYTES: Final = 32

_FORM: Final = re.compile(rf"lf_([0-9a-f]{{{2 * ID_BYTES}}})_([0-9a-f]{{{2 * SECRET_BYTES}}})")


class KeyScope(StrEnum):
    """What a key may do in its tenant: send turns, read memory, or everything including keys and dead letters."""

    INGEST = "ingest"
    READ = "read"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Credential:
    """What a caller holds, in parts; printing it shows the id only."""

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
        """The key itself, for the one answer that hands it out."""
        return f"lf_{self.id}_{self.secret}"

    def digest(self) -> str:
        return hashlib.sha256(self.secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known about a key. A revoked one keeps its record and has no digest any more."""

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
