"""How a process and the pipeline are: the routes that name nobody, for whoever may read."""

from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends

from lithify.access import KeyScope
from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.http import JsonRoute
from lithify.http.authorization import Access
from lithify.memory.ranking.profile import Profile
from lithify.monitoring.figures import PipelineReader, StreamState
from lithify.monitoring.overview import Overview, overview_of
from lithify.monitoring.pulse import Pulse
from lithify.operations.probes import HealthChecks
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES
from lithify.streams import Heartbeat, Lag
from lithify.streams.groups import EMBED


def status_router(
    checks: HealthChecks, reader: PipelineReader, pulse: Pulse, access: Access, profile: Profile | None = None
) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    named = None if profile is None else describe_profile(profile)
    caller = Depends(access.needs(KeyScope.READ))

    @router.get("/status")
    async def status(scope: TenantScope = caller) -> dict[str, Any]:
        """Tell what the tenant has stored, what waits, and how well the parts are."""
        return await describe_process(scope, checks, reader) | {"profile": named}

    @router.get("/overview", dependencies=[caller])
    async def overview() -> Overview:
        """Ages, throughput, dead letters, workers and queues in one answer."""
        return overview_of(await pulse.read())

    @router.get("/streams", dependencies=[caller])
    async def streams() -> list[StreamState]:
        """Every stream with its groups and their consumers."""
        return list((await pulse.read()).figures.streams)

    @router.get("/workers", dependencies=[caller])
    async def workers() -> list[Heartbeat]:
        """Every worker heard of lately, with its counts."""
        return list((await pulse.read()).figures.workers)

    return router


async def describe_process(scope: TenantScope, checks: HealthChecks, reader: PipelineReader) -> dict[str, Any]:
    """Raises Unavailable if Redis did not answer; a store that is away is described as that."""
    lags = await reader.lags()
    return {
        "version": version("lithify"),
        "ready": not await checks.find_troubles(),
        "embedder": None if checks.embedder is None else describe_embedder(checks.embedder, checks.keeps_model),
        "store": None if checks.store is None else await describe_store(scope, checks.store),
        "streams": [asdict(lag) for lag in lags],
        "unfinished": count_waiting(lags),
        "unsearchable": count_waiting(lag for lag in lags if lag.group == EMBED),
        "dead_letters": (await reader.dead_letters()).count,
        "workers": [asdict(worker) for worker in await reader.workers()],
    }


def count_waiting(lags: Iterable[Lag]) -> int:
    return sum(lag.unread + lag.pending for lag in lags)


def describe_embedder(embedder: Embedder, kept: bool) -> dict[str, Any]:
    """Describes the model; a `kept` one is that of the stored memories, and not the default."""
    health = asdict(embedder.health())
    return {"profile": embedder.manifest.name, "fingerprint": embedder.fingerprint, **health, "kept": kept}


def describe_profile(profile: Profile) -> dict[str, str]:
    """Names the profile as every receipt does; the digest tells two files of one name apart."""
    return {"name": profile.name, "digest": profile.digest()}


async def describe_store(scope: TenantScope, store: VectorStore) -> dict[str, Any]:
    health = asdict(await store.health())
    try:
        return health | {"memories": await store.count(scope, COLLECTION, WITHOUT_PIECES)}
    except LithifyError:
        return health | {"memories": None}
