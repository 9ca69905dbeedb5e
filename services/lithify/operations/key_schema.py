"""What is answered about API keys."""

from pydantic import BaseModel, Field

from lithify.access import ApiKey, Credential, KeyScope


class KeyRecord(BaseModel):
    """Describes a key without its secret; times in ms."""

    id: str
    tenant: str
    name: str
    scopes: list[KeyScope]
    created_at: int
    revoked_at: int | None = Field(description="Null while the key is live.")


class IssuedKey(KeyRecord):
    """The only answer that ever holds the key itself."""

    key: str


class KeyList(BaseModel):
    keys: list[KeyRecord]


def describe_key(key: ApiKey) -> KeyRecord:
    return KeyRecord(
        id=key.id,
        tenant=key.tenant,
        name=key.name,
        scopes=sorted(key.scopes),
        created_at=key.created_at,
        revoked_at=key.revoked_at,
    )


def describe_issued(key: ApiKey, credential: Credential) -> IssuedKey:
    return IssuedKey(**describe_key(key).model_dump(), key=credential.reveal())
