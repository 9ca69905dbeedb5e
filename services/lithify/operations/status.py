"""How a process and the pipeline are: to readers what concerns their tenant, to the operator the whole."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, Request

from lithify.access import KeyScope
from lithify.embedding import Embedder
from lithify.errors import LithifyError
from lithify.events import TenantScope
from lithify.http import JsonRoute
from lithify.http.authorization import Access, get_caller, is_operator
from lithify.memory.ranking.profile import Profile
from lithify.monitoring.figures import PipelineReader, StreamState
from lithify.monitoring.overview import Overview, overview_of
from lithify.monitoring.pulse import Pulse
from lithify.operations.probes import HealthChecks
from lithify.store import VectorStore
from lithify.store.memory_record import COLLECTION, WITHOUT_PIECES
from lithify.streams import DeadLetters, Heartbeat, Lag
from lithify.streams.groups import EMBED


@dataclass(frozen=True, slots=True)
class StatusSources:
    """What the status of a process is read from; `profile` is that of one that answers about memory."""

    checks: HealthChecks
    reader: PipelineReader
    letters: DeadLetters
    profile: Profile | None = None


def status_router(sources: StatusSources, pulse: Pulse, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["operations"], route_class=JsonRoute)
    caller = Depends(access.needs(KeyScope.READ))
    operator = Depends(access.needs_operator())

    @router.get("/status")
    async def status(request: Request, scope: TenantScope = caller) -> dict[str, Any]:
        """Tell what the tenant has stored, whether anything waits, and how well the parts are; to the operator all."""
        whole = is_operator(get_caller(request).key)
        pipeline = describe_pipeline(sources.reader) if whole else describe_progress(scope, sources)
        return await describe_process(scope, sources) | await pipeline

    @router.get("/overview", dependencies=[operator])
    async def overview() -> Overview:
        """Ages, throughput, dead letters, workers and queues in one answer."""
        return overview_of(await pulse.read())

    @router.get("/streams", dependencies=[operator])
    async def streams() -> list[StreamState]:
        """Every stream with its groups and their consumers."""
        return list((await pulse.read()).figures.streams)

    @router.get("/workers", dependencies=[operator])
    async def workers() -> list[Heartbeat]:
        """Every worker heard of lately, with its counts."""
        return list((await pulse.read()).figures.workers)

    return router


async def describe_process(scope: TenantScope, sources: StatusSources) -> dict[str, Any]:
    """Describes the parts of the process; a store that is away is described as that."""
    checks = sources.checks
    return {
        "version": version("lithify"),
        "ready": not await checks.find_troubles(),
        "embedder": None if checks.embedder is None else describe_embedder(checks.embedder, checks.keeps_model),
        "store": None if checks.store is None else await describe_store(scope, checks.store),
        "profile": None if sources.profile is None else describe_profile(sources.profile),
    }


async def describe_pipeline(reader: PipelineReader) -> dict[str, Any]:
    """Describes what waits and who works, of all tenants. Raises Unavailable if Redis did not answer."""
    lags = await reader.lags()
    return {
        "streams": [asdict(lag) for lag in lags],
        "unfinished": count_waiting(lags),
        "unsearchable": count_waiting(lag for lag in lags if lag.group == EMBED),
        "dead_letters": (await reader.dead_letters()).count,
        "workers": [asdict(worker) for worker in await reader.workers()],
    }


async def describe_progress(scope: TenantScope, sources: StatusSources) -> dict[str, Any]:
    """Describes the pipeline to one tenant: 1 where anything waits, whosever it is, and its own dead letters.

    Streams hold the events of all tenants: how many wait, and where, is the operator's. Raises Unavailable.
    """
    whole = await describe_pipeline(sources.reader)
    dead = len(await sources.letters.ids(scope)) if whole["dead_letters"] else 0
    progress = {name: min(1, whole[name]) for name in ("unfinished", "unsearchable")}
    return {"streams": [], **progress, "dead_letters": dead, "workers": []}


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
