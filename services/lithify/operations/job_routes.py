"""The HTTP surface of background jobs: listed, shown, tried again, and maintenance started by hand."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel

from lithify.events import AnyTenant
from lithify.http import JsonRoute
from lithify.http.authorization import Access
from lithify.jobs import JobDetail, JobSummary, Ticket
from lithify.monitoring.jobs import BackgroundJobs

MAX_PAGE = 200

JobId = Annotated[str, Path(max_length=256, description="As the list names it.")]
StartJob = Callable[[], Awaitable[Ticket]]
"""Queues a job unless it is queued already."""


@dataclass(frozen=True, slots=True)
class Retried:
    job_id: str


class JobTicket(BaseModel):
    job_id: str
    is_new: bool


def job_router(jobs: BackgroundJobs, access: Access) -> APIRouter:
    """Answers administrators only: jobs name users and sessions."""
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    admin = Depends(access.needs_admin())

    @router.get("/jobs")
    async def list_jobs(
        queue: Annotated[str | None, Query(max_length=64, description="All queues if unset.")] = None,
        status: Literal["started", "queued", "scheduled", "failed", "finished"] = "failed",
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        scope: AnyTenant = admin,
    ) -> list[JobSummary]:
        """Background jobs in one state."""
        return await jobs.list_jobs(scope, queue, status, limit)

    @router.get("/jobs/{job_id}", responses={404: {}})
    async def show_job(job_id: JobId, scope: AnyTenant = admin) -> JobDetail:
        """One job with the trace of its error."""
        return await jobs.show_job(scope, job_id)

    @router.post("/jobs/{job_id}:retry", responses={404: {}})
    async def retry_job(job_id: JobId, scope: AnyTenant = admin) -> Retried:
        """Queue a failed job again; it resumes at its checkpoint."""
        await jobs.retry_job(scope, job_id)
        return Retried(job_id)

    return router


def maintenance_router(queue_backfill: StartJob, access: Access) -> APIRouter:
    """Starts maintenance jobs by hand, for the operator: they work on all tenants. They also run by schedule."""
    router = APIRouter(
        prefix="/v1/maintenance",
        tags=["operations"],
        route_class=JsonRoute,
        dependencies=[Depends(access.needs_operator())],
    )

    @router.post("/backfill", status_code=HTTPStatus.ACCEPTED)
    async def start_backfill() -> JobTicket:
        """Make the vectors that could not be made when their turns arrived."""
        return JobTicket(**asdict(await queue_backfill()))

    return router
