"""The pages about the pipeline, and their forms: overview, streams, workers, jobs and dead letters."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lithify.dashboard.authentication import PATH, Viewer
from lithify.dashboard.board import make_board
from lithify.dashboard.charts import HEIGHT, WIDTH
from lithify.dashboard.page_guard import Form, first
from lithify.dashboard.pages import Pages
from lithify.errors import Invalid
from lithify.jobs import STATUSES
from lithify.monitoring.jobs import BackgroundJobs
from lithify.monitoring.letters import find_letter, payload_of
from lithify.monitoring.overview import overview_of
from lithify.monitoring.pulse import Pulse, Reading
from lithify.streams import DeadLetters, Letter, LetterId

PER_PAGE: Final = 50

# What an action has done, told by the page it leads to; the number comes with it.
OUTCOMES: Final = {
    "redriven": "put back onto their streams",
    "purged": "deleted for good",
    "retried": "queued again",
}


@dataclass(frozen=True, slots=True)
class OperationsPages:
    """Shows the operator how the pipeline is, and administrators the jobs and letters of their tenant."""

    pages: Pages
    pulse: Pulse
    background_jobs: BackgroundJobs
    letters: DeadLetters

    async def overview(self, _request: Request, viewer: Viewer) -> Response:
        """Leads whoever sees one tenant only to the pages about its memory: this is where people arrive."""
        if not viewer.is_operator:
            return RedirectResponse(f"{PATH}/memory", HTTPStatus.SEE_OTHER)
        reading = await self.pulse.read()
        return self.pages.draw(
            "overview",
            viewer,
            board=make_board(reading),
            overview=overview_of(reading),
            chart={"width": WIDTH, "height": HEIGHT},
        )

    async def streams(self, _request: Request, viewer: Viewer) -> Response:
        viewer.require_operator()
        reading = await self.pulse.read()
        return self.pages.draw("streams", viewer, board=make_board(reading), streams=reading.figures.streams)

    async def workers(self, _request: Request, viewer: Viewer) -> Response:
        viewer.require_operator()
        reading = await self.pulse.read()
        return self.pages.draw("workers", viewer, board=make_board(reading), workers=reading.figures.workers)

    async def jobs(self, request: Request, viewer: Viewer) -> Response:
        """Shows the counts of the queues to the operator; the jobs themselves, which name users, to administrators."""
        reading = await self.pulse.read()
        status = request.query_params.get("status", "failed")
        queue = request.query_params.get("queue") or None
        found = None
        if viewer.may_act:
            found = await self.background_jobs.list_jobs(viewer.scope, queue, status, PER_PAGE)
        return self.pages.draw(
            "jobs",
            viewer,
            **figures_for(viewer, reading),
            jobs=found,
            wanted=status,
            queue=queue,
            statuses=STATUSES,
            outcome=outcome_of(request),
        )

    async def job(self, request: Request, viewer: Viewer) -> Response:
        found = await self.background_jobs.show_job(viewer.scope, request.path_params["job_id"])
        return self.pages.draw("job", viewer, detail=found, job=found.job)

    async def dead_letters(self, request: Request, viewer: Viewer) -> Response:
        reading = await self.pulse.read()
        before = request.query_params.get("before")
        found: list[Letter] | None = None
        if viewer.may_act:
            below = LetterId.parse(before) if before else None
            found = await self.letters.newest(viewer.scope, PER_PAGE, below)
        return self.pages.draw(
            "letters",
            viewer,
            **figures_for(viewer, reading),
            letters=found,
            older=str(found[-1].id) if found and len(found) == PER_PAGE else None,
            now=reading.figures.at,
            outcome=outcome_of(request),
        )

    async def dead_letter(self, request: Request, viewer: Viewer) -> Response:
        found = await find_letter(self.letters, viewer.scope, request.path_params["letter_id"])
        return self.pages.draw("letter", viewer, letter=found, payload=payload_of(found))


@dataclass(frozen=True, slots=True)
class OperationsActions:
    """Does what an administrator asks for by a form; each is in the HTTP interface and on the command line, too.

    Every action returns the page that shows its outcome.
    """

    jobs: BackgroundJobs
    letters: DeadLetters

    async def redrive(self, viewer: Viewer, _request: Request, form: Form) -> str:
        outcomes = await self.letters.redrive(viewer.scope, await self._chosen_letters(viewer, form))
        return f"/dead-letters?done=redriven&count={list(outcomes.values()).count('redriven')}"

    async def purge(self, viewer: Viewer, _request: Request, form: Form) -> str:
        purged = await self.letters.purge(viewer.scope, await self._chosen_letters(viewer, form))
        return f"/dead-letters?done=purged&count={purged}"

    async def retry(self, viewer: Viewer, request: Request, _form: Form) -> str:
        await self.jobs.retry_job(viewer.scope, request.path_params["job_id"])
        return "/jobs?done=retried&count=1"

    async def _chosen_letters(self, viewer: Viewer, form: Form) -> list[LetterId]:
        if first(form, "which") == "all":
            return await self.letters.ids(viewer.scope)
        chosen = [LetterId.parse(text) for text in form.get("letter", [])]
        if not chosen:
            raise Invalid("letter: choose at least one letter")
        return chosen


def figures_for(viewer: Viewer, reading: Reading) -> dict[str, Any]:
    """Returns what a page shows of the whole installation, live: nothing to whoever sees one tenant only."""
    if not viewer.is_operator:
        return {}
    return {"board": make_board(reading), "queues": reading.figures.queues}


def outcome_of(request: Request) -> str | None:
    """Says what an action has done, in words of ours: what an address says must not look as if we had said it."""
    words = OUTCOMES.get(request.query_params.get("done", ""))
    count = request.query_params.get("count", "")
    return f"{count} {words}." if words and count.isdecimal() and len(count) < 8 else None
