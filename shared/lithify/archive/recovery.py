"""Brings the segments of a writer that died into order: cuts off what was never acknowledged, and seals the rest."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import structlog

from lithify.archive.durable import remove_file, write_all
from lithify.archive.line import stream_id_of
from lithify.archive.manifest import Manifest, encode_footer, is_sealed
from lithify.archive.segment import SUFFIX, parse_segment

log = structlog.get_logger(__name__)


def seal_leftovers(folder: Path) -> list[Path]:
    """Seal every open segment of one writer; its lock must be held. Returns those that were open."""
    left = [path for path in sorted(folder.glob(f"*{SUFFIX}")) if not is_sealed(path)]
    for path in left:
        seal_leftover(path)
    return left


def seal_leftover(path: Path) -> None:
    segment = parse_segment(path.read_bytes())
    if segment.torn:
        log.warning("torn_tail", segment=str(path), offset=segment.body_end, bytes=segment.torn)
    if not segment.body:
        remove_file(path)
        return
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, segment.body_end)
        os.lseek(descriptor, 0, os.SEEK_END)
        write_all(descriptor, footer_of(segment.body))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def seal_body(body: bytes) -> bytes:
    return body + footer_of(body)


def footer_of(body: bytes) -> bytes:
    """Counts what can be read; a damaged stretch stays where it is, inside the digest, and readers tell of it."""
    ids = [stream_id_of(line) for line in parse_segment(body).lines()]
    return encode_footer(replace(Manifest().including(ids), sha256=hashlib.sha256(body).hexdigest()))
