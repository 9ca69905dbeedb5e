"""The scheduled job: refreshes documents, measures how well they are found, and speaks up only if that fell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import structlog
from pydantic import JsonValue

from lithify.docs.benchmark.measurement import DEPTH, Ask, ask_all, make_report
from lithify.docs.benchmark.questions import read_questions
from lithify.docs.holdings import Holdings
from lithify.docs.jobs import LaneRun, LaneRuns
from lithify.docs.query import DocQuery, SearchMode
from lithify.docs.search import DocSearch
from lithify.errors import Invalid
from lithify.events import Clock, TenantScope
from lithify.jobs import JobContext
from lithify.librarian.refresh import RefreshParts, refresh
from lithify.librarian.vectors import VectorParts, catch_up

WORST: Final = 5
JUDGED_MODE: Final = "fused"
WEBHOOK_TIMEOUT_S: Final = 10.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LaneParts:
    """`roots` are the folders this process may read, by the name of their repository."""

    scope: TenantScope
    holdings: Holdings
    search: DocSearch
    vectors: VectorParts
    runs: LaneRuns
    clock: Clock
    roots: Mapping[str, Path]
    include: Sequence[str] = ()
    questions: Path | None = None
    questions_repo: str | None = None
    webhook: str | None = None


async def refresh_and_measure(context: JobContext[LaneParts]) -> JsonValue:
    """Makes one run: refresh, vectors, benchmark, one report, and a notice if something became worse.

    May run twice without harm; a run that dies after its notice and before its report gives the notice again.
    """
    parts = context.parts
    began = parts.clock()
    refreshing = context.with_parts(RefreshParts(parts.scope, parts.holdings, parts.include))
    refreshed = [await refresh(refreshing, repo, folder) for repo, folder in sorted(parts.roots.items())]
    vectors = await catch_up(context.with_parts(parts.vectors))
    measured, trouble = await measure(context)
    earlier = await parts.runs.all(parts.scope)
    reasons = find_regressions(last_benchmark(earlier), measured)
    run: LaneRun = {
        "at": began,
        "took_ms": parts.clock() - began,
        "refreshed": [one.outline() for one in refreshed],
        "vectors": vectors,
        "scores": None if measured is None else {mode: scores["all"] for mode, scores in measured.items()},
        "benchmark": measured,
        "worst": [] if measured is None else measured[JUDGED_MODE]["worst"][:WORST],
        "trouble": [one for one in (*(item.trouble for item in refreshed), trouble) if one],
        "reasons": reasons,
    }
    await notify(parts, began, reasons)
    await parts.runs.append(parts.scope, run)
    return {"refreshed": len(refreshed), "reasons": len(reasons)}


async def measure(context: JobContext[LaneParts]) -> tuple[dict[str, Any] | None, str | None]:
    """Returns the benchmark's report, or none and why."""
    parts = context.parts
    if parts.questions is None:
        return None, None
    try:
        questions = await context.offload(read_questions, parts.questions)
    except Invalid as error:
        return None, str(error)
    return make_report(await ask_all(questions, make_ask(parts))), None


def make_ask(parts: LaneParts) -> Ask:
    """Returns the function by which the benchmark asks the documents of this process."""
    repos = () if parts.questions_repo is None else (parts.questions_repo,)

    async def ask(text: str, mode: SearchMode) -> list[str]:
        query = DocQuery(text, repos=repos, limit=DEPTH, mode=mode)
        found = await parts.search.find(parts.scope, query, parts.clock())
        return [hit.chunk.path for hit in found.hits]

    return ask


def last_benchmark(runs: Sequence[LaneRun]) -> Mapping[str, Any] | None:
    """Returns that of the newest run which had one: a run without questions in between forgives nothing."""
    return next((one["benchmark"] for one in runs if one["benchmark"] is not None), None)


def find_regressions(previous: Mapping[str, Any] | None, current: Mapping[str, Any] | None) -> list[str]:
    """Returns a sentence per question that no longer hits among five, and per new miss of an important one.

    Both are reports of the benchmark; questions that were taken out of the file are nobody's loss (spec 10 §12).
    """
    if current is None:
        return []
    now = current[JUDGED_MODE]
    before = {} if previous is None else previous[JUDGED_MODE]
    asked = {*now["hits"], *now["all_misses"]}
    lost = sorted(set(before.get("hits", ())) & asked - set(now["hits"]))
    important = set(now["important_misses"]) - set(before.get("important_misses", ())) - set(lost)
    return [
        *(f"regression: {one!r} no longer finds its document among the first five" for one in lost),
        *(f"miss: the important question {one!r} does not find its document" for one in sorted(important)),
    ]


async def notify(parts: LaneParts, at: int, reasons: Sequence[str]) -> None:
    """Gives one notice, however much became worse; the dashboard reads it from the report of the run."""
    if not reasons:
        return
    log.warning("docs_memory_worse", reasons=list(reasons))
    if parts.webhook is not None:
        await post_notice(parts.webhook, {"kind": "docs_memory_worse", "at": at, "reasons": list(reasons)})


async def post_notice(url: str, notice: Mapping[str, Any]) -> bool:
    """Returns whether the address took it; that it cannot be reached is no reason for the work to fail."""
    try:
        async with httpx.AsyncClient(timeout=WEBHOOK_TIMEOUT_S) as http:
            answer = await http.post(url, json=dict(notice))
            answer.raise_for_status()
    except httpx.HTTPError as error:
        log.warning("docs_webhook_failed", kind=type(error).__name__)
        return False
    return True
