"""The job that reads the whole archive now and then, so that a damaged segment is known before it is needed."""

from collections import deque
from pathlib import Path
from typing import Final

import structlog
from pydantic import JsonValue

from lithify.archive import Findings, read_archive
from lithify.jobs import JobContext

JOB: Final = "inspect_archive"

log = structlog.get_logger(__name__)


async def inspect_archive(context: JobContext[Path]) -> JsonValue:
    """Counts and the places of damage; the log has an error for each of them."""
    findings = await context.offload(read_through, context.parts)
    for damage in findings.damage:
        log.error("archive_damaged", place=str(damage))
    return {
        "segments": findings.segments,
        "lines": findings.lines,
        "torn_bytes": findings.torn_bytes,
        "damage": [str(damage) for damage in findings.damage],
    }


def read_through(archive: Path) -> Findings:
    findings = Findings()
    deque(read_archive(archive, findings), maxlen=0)
    return findings
