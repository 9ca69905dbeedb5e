"""What an administrator does from the pages; each is in the HTTP interface and on the command line, too."""

from dataclasses import dataclass

from starlette.requests import Request

from lithify.dashboard.desk import Form, first
from lithify.dashboard.operations_routes import Operations
from lithify.dashboard.visitor import Visitor
from lithify.errors import Invalid
from lithify.streams import DeadLetters, LetterId


@dataclass(frozen=True, slots=True)
class Actions:
    operations: Operations
    letters: DeadLetters

    async def redrive(self, visitor: Visitor, _request: Request, form: Form) -> str:
        outcomes = await self.letters.redrive(visitor.scope, await self._chosen(visitor, form))
        return f"/dead-letters?done=redriven&count={list(outcomes.values()).count('redriven')}"

    async def purge(self, visitor: Visitor, _request: Request, form: Form) -> str:
        purged = await self.letters.purge(visitor.scope, await self._chosen(visitor, form))
        return f"/dead-letters?done=purged&count={purged}"

    async def retry(self, visitor: Visitor, request: Request, _form: Form) -> str:
        await self.operations.retry_job(visitor.scope, request.path_params["job_id"])
        return "/jobs?done=retried&count=1"

    async def _chosen(self, visitor: Visitor, form: Form) -> list[LetterId]:
        if first(form, "which") == "all":
            return await self.letters.ids(visitor.scope)
        chosen = [LetterId.parse(text) for text in form.get("letter", [])]
        if not chosen:
            raise Invalid("letter: choose at least one letter")
        return chosen
