"""Deterministic point ids, so that writing a record twice is writing it once."""

from typing import Final
from uuid import UUID, uuid5

# Drawn once at random. Changing it would orphan every stored record.
NAMESPACE: Final = UUID("6f0f5d0e-6f4b-4a83-9d57-0f1c3c7b2a94")


def point_id(tenant: str, kind: str, natural_key: str, family: str) -> str:
    """The id of a record: its tenant, kind, own key and embedding family, as uuid text."""
    return str(uuid5(NAMESPACE, joined(tenant, kind, natural_key, family)))


def joined(*parts: str) -> str:
    """One text from which the parts could be told again: a separator alone would let `a|b, c` equal `a, b|c`."""
    return "".join(f"{len(part)}:{part}" for part in parts)
