"""Everything the operations pages show and do, as JSON, for the command line and for other tools."""

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from redis import Redis as BlockingRedis

from lithify.access import KeyScope
from lithify.events import AnyTenant
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.jobs import JobDetail, JobSummary, list_jobs, retry_failed, show_job
from lithify.monitoring.figures import StreamState
from lithify.monitoring.overview import Overview, overview_of
from lithify.monitoring.pulse import Pulse
from lithify.streams import Heartbeat

MAX_PAGE = 200

JobId = Annotated[str, Path(max_length=256, description="As the list names it.")]


@dataclass(frozen=True, slots=True)
class Retried:
    job_id: str


@dataclass(frozen=True, slots=True)
class Operations:
    """What the routes and pages of operators work on; `jobs` is a blocking connection, as RQ needs it."""

    pulse: Pulse
    jobs: BlockingRedis

    async def queue_names(self) -> list[str]:
        reading = await self.pulse.read()
        return [queue.queue for queue in reading.figures.queues]

    async def list_jobs(self, scope: AnyTenant, queue: str | None, status: str, limit: int) -> list[JobSummary]:
        """Of one queue, or of all of them one after the other."""
        names = [queue] if queue else await self.queue_names()
        found = [job for name in names for job in await list_jobs(self.jobs, scope, name, status, limit)]
        return found[:limit]

    async def show_job(self, scope: AnyTenant, job_id: str) -> JobDetail:
        """Raises NotFound if there is no such job in view."""
        found = await show_job(self.jobs, scope, job_id)
        if found is None:
            raise NotFound(f"job_id: there is no job {job_id[:80]!r}; its record may have expired")
        return found

    async def retry_job(self, scope: AnyTenant, job_id: str) -> None:
        """Raises NotFound, and Invalid if the job has not failed."""
        await self.show_job(scope, job_id)
        await retry_failed(self.jobs, job_id)


def operations_router(operations: Operations, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    _add_figures(router, operations.pulse, access)
    _add_jobs(router, operations, access)
    return router


def _add_figures(router: APIRouter, pulse: Pulse, access: Access) -> None:
    """They name nobody, as those of /v1/status."""
    reader = [Depends(access.needs(KeyScope.READ))]

    @router.get("/overview", dependencies=reader)
    async def overview() -> Overview:
        """Ages, throughput, dead letters, workers and queues in one answer."""
        return overview_of(await pulse.read())

    @router.get("/streams", dependencies=reader)
    async def streams() -> list[StreamState]:
        """Every stream with its groups and their consumers."""
        return list((await pulse.read()).figures.streams)

    @router.get("/workers", dependencies=reader)
    async def workers() -> list[Heartbeat]:
        """Every worker heard of lately, with its counts."""
        return list((await pulse.read()).figures.workers)


def _add_jobs(router: APIRouter, operations: Operations, access: Access) -> None:
    """They name users and sessions."""
    admin = Depends(access.needs_admin())

    @router.get("/jobs")
    async def jobs(
        queue: Annotated[str | None, Query(max_length=64, description="All queues if unset.")] = None,
        status: Literal["started", "queued", "scheduled", "failed", "finished"] = "failed",
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        scope: AnyTenant = admin,
    ) -> list[JobSummary]:
        """Background jobs in one state."""
        return await operations.list_jobs(scope, queue, status, limit)

    @router.get("/jobs/{job_id}", responses={404: {}})
    async def job(job_id: JobId, scope: AnyTenant = admin) -> JobDetail:
        """One job with the trace of its error."""
        return await operations.show_job(scope, job_id)

    @router.post("/jobs/{job_id}:retry", responses={404: {}})
    async def retry(job_id: JobId, scope: AnyTenant = admin) -> Retried:
        """Queue a failed job again; it resumes at its checkpoint."""
        await operations.retry_job(scope, job_id)
        return Retried(job_id)
