"""Every accepted event on disk, in compressed segments that outlive both Redis and the vector store."""

from lithify.archive.block import ArchivedEvent, ArchiveLine, decode_line, encode_line
from lithify.archive.durable import whole_archive
from lithify.archive.exclusion import exclude_copies, hold_shared_lock
from lithify.archive.reader import Damage, Findings, Newest, index_newest, read_archive, read_newest
from lithify.archive.rewriting import NotRewritten, RewriteResult, rewrite, rewrite_locked
from lithify.archive.writer import Rotation, SegmentWriter

__all__ = [
    "ArchiveLine",
    "ArchivedEvent",
    "Damage",
    "Findings",
    "Newest",
    "NotRewritten",
    "RewriteResult",
    "Rotation",
    "SegmentWriter",
    "decode_line",
    "encode_line",
    "exclude_copies",
    "hold_shared_lock",
    "index_newest",
    "read_archive",
    "read_newest",
    "rewrite",
    "rewrite_locked",
    "whole_archive",
]
