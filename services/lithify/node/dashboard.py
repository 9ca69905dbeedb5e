"""Builds the dashboard from the parts of a process."""

from contextlib import AsyncExitStack

from fastapi import APIRouter

from lithify.access import ApiKeyAuthenticator
from lithify.dashboard.browser_sessions import BrowserSessions
from lithify.dashboard.memory_api import MemoryApi
from lithify.dashboard.router import Dashboard, dashboard_router
from lithify.events import system_clock
from lithify.http.authorization import Access
from lithify.jobs import open_connection
from lithify.monitoring.figures import Gauges
from lithify.monitoring.pulse import Pulse
from lithify.node.parts import RedisParts
from lithify.operations.job_routes import Operations, operations_router
from lithify.settings import Settings
from lithify.streams import DeadLetters


def dashboard(
    settings: Settings,
    redis: RedisParts,
    door: ApiKeyAuthenticator,
    stack: AsyncExitStack,
    assembly_url: str | None = None,
) -> list[APIRouter]:
    """Without `assembly_url` it is part of an application that answers about memory itself."""
    jobs = open_connection(redis.url)
    stack.callback(jobs.close)
    operations = Operations(Pulse(Gauges(redis.client, jobs, settings.partitions, system_clock)), jobs)
    parts = Dashboard(
        authenticator=door,
        sessions=BrowserSessions(redis.client),
        operations=operations,
        letters=DeadLetters(redis.client, settings.partitions, system_clock),
        memory=MemoryApi(assembly_url),
        clock=system_clock,
    )
    return [operations_router(operations, Access(door)), dashboard_router(parts)]
