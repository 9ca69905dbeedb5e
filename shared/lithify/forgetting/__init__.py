"""What can be forgotten, how it is asked for, and how workers know that an event they hold was."""

from lithify.forgetting.request import (
    JOB,
    QUEUE,
    Forgetting,
    read_forgetting,
    read_present_moment,
    request_forgetting,
    wait_past,
)
from lithify.forgetting.target import Target, TargetKind, memory_target
from lithify.forgetting.tombstones import (
    LastAcceptance,
    announce_again,
    are_forgotten,
    find_accepted_later,
    put_tombstones,
    read_acceptances,
)

__all__ = [
    "JOB",
    "QUEUE",
    "Forgetting",
    "LastAcceptance",
    "Target",
    "TargetKind",
    "announce_again",
    "are_forgotten",
    "find_accepted_later",
    "memory_target",
    "put_tombstones",
    "read_acceptances",
    "read_forgetting",
    "read_present_moment",
    "request_forgetting",
    "wait_past",
]
