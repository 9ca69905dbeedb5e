"""What can be forgotten, how it is asked for, and how workers know that an event they hold was."""

from lithify.forgetting.request import (
    JOB,
    QUEUE,
    Forgetting,
    read_forgetting,
    read_present_moment,
    request_forgetting,
)
from lithify.forgetting.target import Target, TargetKind, memory_target
from lithify.forgetting.tombstones import are_forgotten, find_accepted_later, put_tombstones

__all__ = [
    "JOB",
    "QUEUE",
    "Forgetting",
    "Target",
    "TargetKind",
    "are_forgotten",
    "find_accepted_later",
    "memory_target",
    "put_tombstones",
    "read_forgetting",
    "read_present_moment",
    "request_forgetting",
]
