"""The slow-cook lane: refreshes documents, measures how well they are found, and speaks up only if that fell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import JsonValue

from lithify.batching import batched
from lithify.docs.holdings import Holdings
from lithify.docs.lane import LaneReceipts
from lithify.docs.query import DocQuery
from lithify.docs.search import DocSearch
from lithify.errors import Invalid
from lithify.events import Clock, TenantScope
from lithify.jobs import JobContext
from lithify.librarian.allowlist import allowlist
from lithify.librarian.benchmark import DEPTH, Ask, Mode, ask_all, report
from lithify.librarian.catch_up import catch_up
from lithify.librarian.folder import Folder, confined
from lithify.librarian.notices import reasons
from lithify.librarian.questions import read_questions
from lithify.librarian.refresh import PAGE, Refreshed, look, read_some, write_changes
from lithify.librarian.vectors import VectorParts
from lithify.librarian.webhook import post_notice

WORST: Final = 5

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LaneParts:
    """`roots` are the folders this process may read, by the name of their repository."""

    scope: TenantScope
    holdings: Holdings
    search: DocSearch
    vectors: VectorParts
    receipts: LaneReceipts
    clock: Clock
    roots: Mapping[str, Path]
    include: Sequence[str] = ()
    questions: Path | None = None
    questions_repo: str | None = None
    webhook: str | None = None


async def cook(context: JobContext[LaneParts]) -> JsonValue:
    """One run: refresh, vectors, benchmark, one receipt, and a notice if something became worse.

    May run twice without harm; a run that dies after its notice and before its receipt gives the notice again.
    """
    parts, began = context.parts, context.parts.clock()
    refreshed = [await refresh(context, repo, folder) for repo, folder in sorted(parts.roots.items())]
    vectors = await catch_up(context.with_parts(parts.vectors))
    measured, trouble = await measure(context)
    earlier = await parts.receipts.all(parts.scope)
    found = reasons(last_benchmark(earlier), measured)
    receipt = {
        "at": began,
        "took_ms": parts.clock() - began,
        "refreshed": [one.outline() for one in refreshed],
        "vectors": vectors,
        "scores": None if measured is None else {mode: told["all"] for mode, told in measured.items()},
        "benchmark": measured,
        "worst": [] if measured is None else measured["fused"]["worst"][:WORST],
        "trouble": [one for one in (*(item.trouble for item in refreshed), trouble) if one],
        "reasons": found,
    }
    await notify(parts, began, found)
    await parts.receipts.append(parts.scope, receipt)
    return {"refreshed": len(refreshed), "reasons": len(found)}


async def refresh(context: JobContext[LaneParts], repo: str, place: Path) -> Refreshed:
    """A folder that cannot be read keeps what is stored of it, and does not keep the others from being refreshed."""
    parts, done = context.parts, Refreshed(repo)
    try:
        folder = Folder(confined(place, ()), allowlist(parts.include))
        stored = await parts.holdings.digests(parts.scope, repo)
        changes, done.version = await context.offload(look, folder, stored)
    except Invalid as error:
        done.trouble = f"{repo}: {error}"
        log.warning("docs_not_refreshed", repo=repo, reason=str(error))
        return done
    done.unchanged, done.skipped = changes.unchanged, changes.skipped
    for paths in batched(changes.changed, PAGE):
        sources, skipped = await context.offload(read_some, folder, paths)
        done.written += await write_changes(parts.holdings, parts.scope, repo, sources, done.version)
        done.skipped.extend(skipped)
    done.removed = len(await parts.holdings.remove_all(parts.scope, repo, changes.gone)) if changes.gone else 0
    known = (await parts.holdings.corpus(parts.scope)).versions.get(repo)
    if done.touched or done.version != known:
        await parts.holdings.set_version(parts.scope, repo, done.version)
    return done


async def measure(context: JobContext[LaneParts]) -> tuple[dict[str, Any] | None, str | None]:
    """The benchmark's report, or none and why."""
    parts = context.parts
    if parts.questions is None:
        return None, None
    try:
        questions = await context.offload(read_questions, parts.questions)
    except Invalid as error:
        return None, str(error)
    return report(await ask_all(questions, asker(parts))), None


def asker(parts: LaneParts) -> Ask:
    repos = () if parts.questions_repo is None else (parts.questions_repo,)

    async def ask(text: str, mode: Mode) -> list[str]:
        query = DocQuery(text, repos=repos, limit=DEPTH, mode=mode)
        found = await parts.search.find(parts.scope, query, parts.clock())
        return [hit.chunk.path for hit in found.hits]

    return ask


def last_benchmark(receipts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Of the newest run that had one: a run without questions in between forgives nothing."""
    return next((one["benchmark"] for one in receipts if one["benchmark"] is not None), None)


async def notify(parts: LaneParts, at: int, found: Sequence[str]) -> None:
    """One notice, however much became worse; the dashboard reads it from the receipt."""
    if not found:
        return
    log.warning("docs_memory_worse", reasons=list(found))
    if parts.webhook is not None:
        await post_notice(parts.webhook, {"kind": "docs_memory_worse", "at": at, "reasons": list(found)})
