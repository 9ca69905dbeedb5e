"""The probes: whether the loops of a process come around, and whether all it depends on answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Protocol

from fastapi import APIRouter, Response
from redis.asyncio import Redis

from lithify.embedding import Embedder
from lithify.errors import Unavailable
from lithify.events import Clock
from lithify.store import VectorStore
from lithify.streams.outage import outages

# A loop comes around after every batch, which takes seconds; five minutes without that is a hang.
STUCK_MS: Final = 300_000


class WorkLoop(Protocol):
    """A loop of this process: a consumer or a job runner."""

    @property
    def ready(self) -> bool: ...

    @property
    def outage(self) -> str | None: ...

    @property
    def ticked_at(self) -> int: ...


@dataclass(frozen=True, slots=True)
class HealthChecks:
    """Checks what a process depends on, and its loops; a gateway has neither store nor model nor loops."""

    redis: Redis
    store: VectorStore | None = None
    embedder: Embedder | None = None
    loops: Sequence[WorkLoop] = ()
    keeps_model: bool = False  # the model is that of the stored memories, and not the default

    async def find_troubles(self) -> list[str]:
        """Returns, in words, every dependency that does not answer and every loop that does not read."""
        troubles = [f"worker: {loop.outage or 'not reading'}" for loop in self.loops if not loop.ready]
        if self.embedder is not None and not (health := self.embedder.health()).ready:
            troubles.append(f"embedder: {health.reason or health.mode}")
        if self.store is not None and not (store := await self.store.health()).ready:
            troubles.append(f"store: {store.reason}")
        try:
            with outages():
                await self.redis.ping()
        except Unavailable as error:
            troubles.append(f"redis: {error}")
        return troubles

    def find_stuck_loops(self, now_ms: int) -> list[str]:
        """Returns, in words, every loop that has not come around for five minutes."""
        silent_s = [(now_ms - loop.ticked_at) // 1000 for loop in self.loops]
        return [f"worker: no sign of life for {seconds} s" for seconds in silent_s if seconds * 1000 > STUCK_MS]


def probe_router(checks: HealthChecks, clock: Clock) -> APIRouter:
    """Needs no key and says nothing about tenants, so that whatever supervises the process may ask."""
    router = APIRouter(tags=["operations"])

    @router.get("/livez", responses={503: {}})
    async def livez(response: Response) -> dict[str, Any]:
        """Every loop of the process has come around lately; else it is best started anew."""
        stuck = checks.find_stuck_loops(clock())
        return _answer(response, "stuck" if stuck else "ok", stuck)

    @router.get("/readyz", responses={503: {}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Every dependency answers and the loops are reading."""
        troubles = await checks.find_troubles()
        return _answer(response, "unready" if troubles else "ready", troubles)

    return router


def _answer(response: Response, status: str, troubles: list[str]) -> dict[str, Any]:
    if troubles:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return {"status": status, "troubles": troubles}
