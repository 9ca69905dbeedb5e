"""Asks for the compaction of a session and watches it; the job itself runs in `lithify.compactor`."""

from lithify.compaction.request import (
    JOB,
    QUEUE,
    Cause,
    Compaction,
    SessionKey,
    parse_cause,
    read_compaction,
    request_compaction,
)

__all__ = [
    "JOB",
    "QUEUE",
    "Cause",
    "Compaction",
    "SessionKey",
    "parse_cause",
    "read_compaction",
    "request_compaction",
]
