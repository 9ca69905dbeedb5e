"""Background jobs as operators meet them: listed, shown and tried again, by routes and pages alike."""

from dataclasses import dataclass

from redis import Redis as BlockingRedis

from lithify.events import AnyTenant
from lithify.http import NotFound
from lithify.jobs import JobDetail, JobSummary, list_jobs, retry_failed, show_job
from lithify.monitoring.pulse import Pulse


@dataclass(frozen=True, slots=True)
class BackgroundJobs:
    """Looks only at jobs in view of the caller. `connection` is a blocking one, as RQ needs it."""

    pulse: Pulse
    connection: BlockingRedis

    async def list_jobs(self, scope: AnyTenant, queue: str | None, status: str, limit: int) -> list[JobSummary]:
        """Lists the jobs of one queue, or of all queues one after the other."""
        names = [queue] if queue else await self._queue_names()
        found = [job for name in names for job in await list_jobs(self.connection, scope, name, status, limit)]
        return found[:limit]

    async def show_job(self, scope: AnyTenant, job_id: str) -> JobDetail:
        """Raises NotFound if there is no such job in view."""
        found = await show_job(self.connection, scope, job_id)
        if found is None:
            raise NotFound(f"job_id: there is no job {job_id[:80]!r}; its record may have expired")
        return found

    async def retry_job(self, scope: AnyTenant, job_id: str) -> None:
        """Queues a failed job again. Raises NotFound, and Invalid if the job has not failed."""
        await self.show_job(scope, job_id)
        await retry_failed(self.connection, job_id)

    async def _queue_names(self) -> list[str]:
        reading = await self.pulse.read()
        return [queue.queue for queue in reading.figures.queues]
