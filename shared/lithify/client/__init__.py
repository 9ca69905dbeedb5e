"""The Python client: `Memory` and `AsyncMemory` with the same verbs, typed, retrying safely."""

from lithify.client.async_memory import AsyncMemory
from lithify.client.calls import Turn
from lithify.client.errors import Missing, Refused
from lithify.client.memory import Memory
from lithify.client.results import (
    Accepted,
    BatchResult,
    Block,
    Context,
    Document,
    Entry,
    Expansion,
    Hit,
    RawTurn,
    Receipt,
    Record,
    Remembered,
    SearchResult,
    Ticket,
)

__all__ = [
    "Accepted",
    "AsyncMemory",
    "BatchResult",
    "Block",
    "Context",
    "Document",
    "Entry",
    "Expansion",
    "Hit",
    "Memory",
    "Missing",
    "RawTurn",
    "Receipt",
    "Record",
    "Refused",
    "Remembered",
    "SearchResult",
    "Ticket",
    "Turn",
]
