"""Starts maintenance jobs by hand; they also run by schedule."""

from dataclasses import asdict
from http import HTTPStatus

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from redis import Redis

from lithify.access import KeyScope
from lithify.embedder.backfill import JOB as BACKFILL
from lithify.http import JsonRoute
from lithify.http.authorization import Access
from lithify.jobs import enqueue, open_queue
from lithify.node.jobs import MAINTENANCE


class JobTicket(BaseModel):
    job_id: str
    is_new: bool


def maintenance_router(jobs: Redis, access: Access) -> APIRouter:
    """`jobs` is a blocking connection, as RQ needs it."""
    router = APIRouter(
        prefix="/v1/maintenance",
        tags=["operations"],
        route_class=JsonRoute,
        dependencies=[Depends(access.needs(KeyScope.ADMIN))],
    )

    @router.post("/backfill", status_code=HTTPStatus.ACCEPTED)
    async def start_backfill() -> JobTicket:
        """Make the vectors that could not be made when their turns arrived."""
        return JobTicket(**asdict(await enqueue(open_queue(jobs, MAINTENANCE), BACKFILL, {}, unique_id=BACKFILL)))

    return router
