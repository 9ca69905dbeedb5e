"""What an administrator does from the pages; each is in the HTTP interface and on the command line, too."""

from dataclasses import dataclass

from starlette.requests import Request

from lithify.dashboard.authentication import Viewer
from lithify.dashboard.page_guard import Form, first
from lithify.errors import Invalid
from lithify.monitoring.jobs import BackgroundJobs
from lithify.streams import DeadLetters, LetterId


@dataclass(frozen=True, slots=True)
class Actions:
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
