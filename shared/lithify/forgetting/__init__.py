"""What can be forgotten, how it is asked for, and how workers know that an event they hold was."""

from lithify.forgetting.acceptance import accepted_later
from lithify.forgetting.request import (
    JOB,
    QUEUE,
    Forgetting,
    present_moment,
    read_forgetting,
    request_forgetting,
)
from lithify.forgetting.target import Kind, Target, memory_target
from lithify.forgetting.tombstones import are_forgotten, put_tombstones

__all__ = [
    "JOB",
    "QUEUE",
    "Forgetting",
    "Kind",
    "Target",
    "accepted_later",
    "are_forgotten",
    "memory_target",
    "present_moment",
    "put_tombstones",
    "read_forgetting",
    "request_forgetting",
]
