"""The job that compacts one session: reads it, runs the compaction in a thread, and settles the account."""

from collections.abc import Iterable
from typing import Final

import structlog
from pydantic import JsonValue

from lithify.compaction import Cause, SessionKey, parse_cause
from lithify.compactor.parts import Compactor
from lithify.compactor.run import CompactionRun
from lithify.compactor.session_view import read_session
from lithify.errors import Unavailable
from lithify.jobs import JobContext
from lithify.memory.compaction.commit_steps import StaleGeneration
from lithify.memory.compaction.plan import CompactionReport, Trigger
from lithify.streams import crash_point

TRIGGER_OF: Final = {
    Cause.TOKENS: Trigger.AUTOMATIC,
    Cause.IDLE: Trigger.AUTOMATIC,
    Cause.REQUEST: Trigger.EXPLICIT,
    Cause.FORCE: Trigger.FORCED,
}

log = structlog.get_logger(__name__)


async def compact_session(
    context: JobContext[Compactor], *, tenant: str, user: str, session: str, trigger: str
) -> JsonValue:
    """Replaces what is old by summaries; a run that finds nothing new changes nothing.

    Raises Unavailable when a server or the model is away and StaleGeneration when the session moved on meanwhile: in
    both cases what was committed stays, and the next attempt goes on from there.
    """
    key, cause, parts = SessionKey(tenant, user, session), parse_cause(trigger), context.parts
    progress = await parts.states.read(key)
    found = await read_session(parts.store, key, progress.state)
    if cause is Cause.TOKENS and found.uncovered_tokens < parts.tokens:
        # Turns delivered twice were counted twice; what is there decides, not the counter.
        await parts.states.settle(key, progress.tokens - found.uncovered_tokens)
        return {"did_compact": False, "uncovered_tokens": found.uncovered_tokens}
    run = CompactionRun(parts, found, TRIGGER_OF[cause], progress.left_raw)
    try:
        report = await context.offload(run.execute)
    finally:
        run.abandon()
    raise_what_a_retry_mends(report.errors)
    crash_point("compact_before_settle")
    await parts.states.settle(key, progress.tokens, run.left_raw)
    return told(report)


def raise_what_a_retry_mends(errors: Iterable[Exception]) -> None:
    """Everything else has cost its own cluster only, which stays raw."""
    for error in errors:
        # The type only: an error's words may quote what a user said.
        log.warning("compaction_error", error=type(error).__name__)
        if isinstance(error, Unavailable | StaleGeneration):
            raise error


def told(report: CompactionReport) -> dict[str, JsonValue]:
    return {
        "did_compact": report.did_compact,
        "clusters_formed": report.clusters_formed,
        "clusters_declined": report.clusters_declined,
        "turns_removed": report.turns_removed,
        "summary_method": report.summary_method,
        "mean_confidence": report.mean_confidence,
        "errors": [type(error).__name__ for error in report.errors],
    }
