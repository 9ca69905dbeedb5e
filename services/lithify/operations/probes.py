"""The port for machines that watch a process: probes and metrics, for every kind of process and without a key."""

from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Response

from lithify.events import Clock
from lithify.http import create_app
from lithify.http.authorization import Access
from lithify.operations.metrics import Gauges, metrics_router
from lithify.operations.status import Watched, find_troubles
from lithify.settings import Settings

# A loop comes around after every batch, which takes seconds; five minutes without that is a hang.
STUCK_MS: Final = 300_000


def operations_app(settings: Settings, watched: Watched, gauges: Gauges | None, clock: Clock) -> FastAPI:
    """Answers no one's data, so that whoever reaches the port may ask: it belongs into a network of its own."""
    routers = [probe_router(watched, clock), metrics_router(gauges, Access.open())]
    return create_app("Lithify operations", routers, settings.max_body_bytes)


def probe_router(watched: Watched, clock: Clock) -> APIRouter:
    router = APIRouter()

    @router.get("/livez")
    async def livez(response: Response) -> dict[str, Any]:
        """Every loop of the process has come around lately; else it is best started anew."""
        stuck = stuck_loops(watched, clock())
        return told(response, "stuck" if stuck else "ok", stuck)

    @router.get("/readyz")
    async def readyz(response: Response) -> dict[str, Any]:
        """Every dependency answers and the loops are reading."""
        troubles = await find_troubles(watched)
        return told(response, "unready" if troubles else "ready", troubles)

    return router


def stuck_loops(watched: Watched, now_ms: int) -> list[str]:
    silent_s = [(now_ms - worker.ticked_at) // 1000 for worker in watched.consumers]
    return [f"worker: no sign of life for {seconds} s" for seconds in silent_s if seconds * 1000 > STUCK_MS]


def told(response: Response, status: str, troubles: list[str]) -> dict[str, Any]:
    if troubles:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return {"status": status, "troubles": troubles}
