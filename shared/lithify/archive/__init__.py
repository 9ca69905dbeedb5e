"""Every accepted event on disk, in compressed segments that outlive both Redis and the vector store."""

from lithify.archive.line import ArchivedEvent, Line, decode_line, encode_line
from lithify.archive.lock import whole_archive
from lithify.archive.reader import Damage, Findings, Newest, index_newest, read_archive, read_newest
from lithify.archive.rewriting import NotRewritten, Rewritten, rewrite
from lithify.archive.writer import Rotation, SegmentWriter

__all__ = [
    "ArchivedEvent",
    "Damage",
    "Findings",
    "Line",
    "Newest",
    "NotRewritten",
    "Rewritten",
    "Rotation",
    "SegmentWriter",
    "decode_line",
    "encode_line",
    "index_newest",
    "read_archive",
    "read_newest",
    "rewrite",
    "whole_archive",
]
