"""Locks between processes that end with their holder, however it ends."""

from lithify.locks.file_lock import FileLock

__all__ = ["FileLock"]
