"""Receipts of answers, kept small and for a while: how they are written, and where they lie.

They explain, and nothing depends on them: no crash, outage or full disk that loses one loses anything accepted.
"""

from lithify.traces.codec import pack_trace, unpack_trace
from lithify.traces.folder import FolderTraces
from lithify.traces.redis import RedisTraces
from lithify.traces.shelf import TraceLimits, TraceShelf

__all__ = ["FolderTraces", "RedisTraces", "TraceLimits", "TraceShelf", "pack_trace", "unpack_trace"]
