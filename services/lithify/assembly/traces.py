"""Keeps the receipt of every answer for a while, so that it can be explained afterwards."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import structlog

from lithify.errors import Unavailable
from lithify.events import TenantScope
from lithify.http import NotFound
from lithify.telemetry.metrics import TRACES
from lithify.traces import TraceShelf, pack_trace, unpack_trace

# Receipts that wait to be written: a second's worth under load, and in an outage not more memory than a few requests.
WAITING: Final = 64
WRITE_S: Final = 5.0
SWEEP_S: Final = 60.0
# What another process has just answered may not be written yet.
LATE_S: Final = 0.25

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WaitingReceipt:
    """`exact` receipts keep every digit, for they are compared with later answers."""

    tenant: str
    receipt: Mapping[str, Any]
    exact: bool

    def pack(self) -> bytes:
        return pack_trace(self.receipt, exact=self.exact)


class TraceBook:
    """Takes receipts without making their answers wait, and writes them to a shelf in `run()`.

    A receipt that cannot be written is dropped, logged and counted: no answer fails or is late because of it.
    """

    def __init__(self, shelf: TraceShelf) -> None:
        self._shelf = shelf
        self._waiting: dict[str, WaitingReceipt] = {}
        self._is_wanted = asyncio.Event()

    def keep(self, scope: TenantScope, receipt: Mapping[str, Any], *, exact: bool = False) -> str:
        """Returns the id under which the receipt can be read from now on."""
        trace_id = uuid.uuid4().hex
        if len(self._waiting) >= WAITING:
            self._waiting.pop(next(iter(self._waiting)))
            TRACES.labels("dropped").inc()
        self._waiting[trace_id] = WaitingReceipt(scope.tenant, receipt, exact)
        self._is_wanted.set()
        return trace_id

    async def read(self, scope: TenantScope, trace_id: str) -> dict[str, Any]:
        """Returns a receipt of the tenant. Raises NotFound, and Unavailable if the shelf is away."""
        data = await self._find(scope.tenant, trace_id)
        if data is None:
            await asyncio.sleep(LATE_S)
            data = await self._find(scope.tenant, trace_id)
        try:
            if data is not None:
                return unpack_trace(data)
        except ValueError:
            log.warning("trace_unreadable", trace_id=trace_id)
        raise NotFound(f"trace_id: no trace {trace_id!r}; it never was, has expired or had to make room")

    async def run(self) -> NoReturn:
        """Writes what waits as soon as something does, and sweeps the shelf from time to time."""
        loop = asyncio.get_running_loop()
        sweep_at = loop.time()
        while True:
            if loop.time() >= sweep_at:
                await self._sweep()
                sweep_at = loop.time() + SWEEP_S
            try:
                await asyncio.wait_for(self._is_wanted.wait(), SWEEP_S)
            except TimeoutError:
                continue
            await self.flush()

    async def flush(self) -> None:
        """Writes what waits now; what cannot be written is dropped."""
        self._is_wanted.clear()
        for trace_id in list(self._waiting):
            waiting = self._waiting.get(trace_id)
            if waiting is None:
                continue
            written = await self._write(trace_id, waiting)
            TRACES.labels("kept" if written else "dropped").inc()
            self._waiting.pop(trace_id, None)

    async def _write(self, trace_id: str, waiting: WaitingReceipt) -> bool:
        try:
            async with asyncio.timeout(WRITE_S):
                data = await asyncio.to_thread(waiting.pack)
                await self._shelf.put(waiting.tenant, trace_id, data)
        except (Unavailable, TimeoutError) as error:
            log.warning("trace_dropped", trace_id=trace_id, reason=str(error) or "it took too long")
            return False
        return True

    async def _find(self, tenant: str, trace_id: str) -> bytes | None:
        waiting = self._waiting.get(trace_id)
        if waiting is not None and waiting.tenant == tenant:
            return await asyncio.to_thread(waiting.pack)
        return await self._shelf.get(tenant, trace_id)

    async def _sweep(self) -> None:
        try:
            await self._shelf.sweep()
        except Unavailable as error:
            log.warning("traces_not_swept", reason=str(error))
