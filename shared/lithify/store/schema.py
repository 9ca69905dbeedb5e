"""Which payload fields the engines index, the same on both, and how a collection's records are named inside them."""

from collections.abc import Container
from enum import Enum
from itertools import count
from types import MappingProxyType
from typing import Final

from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store.scoping import PLACE


class IndexKind(Enum):
    TENANT = "tenant"
    PLACE = "place"
    KEYWORD = "keyword"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"


INDEXES: Final = MappingProxyType(
    {
        "tenant": IndexKind.TENANT,
        PLACE: IndexKind.PLACE,
        "user": IndexKind.KEYWORD,
        "session": IndexKind.KEYWORD,
        "kind": IndexKind.KEYWORD,
        "scope": IndexKind.KEYWORD,
        "role": IndexKind.KEYWORD,
        "event_id": IndexKind.KEYWORD,
        "position": IndexKind.KEYWORD,
        "source_ref": IndexKind.KEYWORD,
        "repo": IndexKind.KEYWORD,
        "doc_kind": IndexKind.KEYWORD,
        "compacted_into": IndexKind.KEYWORD,
        "claims": IndexKind.KEYWORD,
        "superseded_by": IndexKind.KEYWORD,
        "parent": IndexKind.KEYWORD,
        MISSING_TIERS: IndexKind.KEYWORD,
        "active": IndexKind.BOOLEAN,
        "divided": IndexKind.BOOLEAN,
        "ts": IndexKind.INTEGER,
        "seq": IndexKind.INTEGER,
        "anchors": IndexKind.FLOAT,
    }
)


def place_of_records(name: str, taken: Container[str]) -> str:
    """Names where a new collection's records go.

    Its public name only points there, so that it can be pointed elsewhere.
    """
    return next(place for number in count(1) if (place := f"{name}~{number}") not in taken)
