"""Puts the routes of operators together, the same in every kind of process that listens."""

from dataclasses import dataclass

from fastapi import APIRouter, FastAPI

from lithify.access import ApiKeyAuthenticator, ApiKeyStore
from lithify.events import Clock
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.http.origin import KeylessRule
from lithify.memory.ranking.profile import Profile
from lithify.monitoring.figures import PipelineReader
from lithify.monitoring.jobs import BackgroundJobs
from lithify.monitoring.pulse import Pulse
from lithify.operations.job_routes import StartJob, job_router, maintenance_router
from lithify.operations.key_routes import key_router
from lithify.operations.letter_routes import dead_letter_router
from lithify.operations.metrics import SystemLevels, metrics_router
from lithify.operations.probes import HealthChecks, probe_router
from lithify.operations.status import StatusSources, status_router
from lithify.streams import DeadLetters


@dataclass(frozen=True, slots=True)
class Operations:
    """Everything the routes of operators work on; with `levels`, `/metrics` includes those of the whole system.

    `profile` is what a process that answers about memory ranks by.
    """

    checks: HealthChecks
    reader: PipelineReader
    pulse: Pulse
    jobs: BackgroundJobs
    letters: DeadLetters
    keys: ApiKeyStore
    queue_backfill: StartJob
    clock: Clock
    levels: SystemLevels | None = None
    profile: Profile | None = None


def operations_routers(operations: Operations, authenticator: ApiKeyAuthenticator) -> list[APIRouter]:
    """Returns what every service answers beside its own work, each route for those it is meant for."""
    access = Access(authenticator)
    sources = StatusSources(operations.checks, operations.reader, operations.letters, operations.profile)
    return [
        probe_router(operations.checks, operations.clock),
        status_router(sources, operations.pulse, access),
        metrics_router(operations.levels, access),
        job_router(operations.jobs, access),
        maintenance_router(operations.queue_backfill, access),
        dead_letter_router(operations.letters, access, operations.clock),
        key_router(operations.keys, authenticator),
    ]


def probe_app(
    checks: HealthChecks,
    levels: SystemLevels | None,
    clock: Clock,
    max_body_bytes: int,
    keyless: KeylessRule | None = None,
) -> FastAPI:
    """Makes the application for machines that watch a process: probes and metrics, without a key.

    It answers no one's data, so that whoever reaches the port may ask: it belongs into a network of its own.
    """
    routers = [probe_router(checks, clock), metrics_router(levels, Access.open())]
    return create_app("Lithify operations", routers, max_body_bytes, keyless)
