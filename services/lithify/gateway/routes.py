"""The gateway's HTTP surface."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Response

from lithify.access import KeyScope
from lithify.events import Clock, TenantScope, TurnBatch, TurnInput
from lithify.gateway.back_pressure import BackPressure
from lithify.gateway.intake import accept_batch, accept_one, add_trace
from lithify.gateway.receipt_watch import ReceiptWatch
from lithify.gateway.schema import Accepted, BatchResult, Receipt
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.streams import Producer, Receipts

TraceHeader = Annotated[str | None, Header(description="W3C trace context of turns that carry none themselves.")]


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts that the gateway works with."""

    producer: Producer
    receipts: Receipts
    clock: Clock
    wait_limit_ms: int
    back_pressure: BackPressure


def gateway_router(gateway: Gateway, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["ingest"], route_class=JsonRoute)
    sender = Depends(access.needs(KeyScope.INGEST))
    reader = Depends(access.needs(KeyScope.READ))
    watch = ReceiptWatch(gateway.receipts)

    @router.post("/turns", status_code=HTTPStatus.ACCEPTED, responses={200: {"model": Accepted}, 409: {}, 429: {}})
    async def accept_turn(
        turn: TurnInput,
        response: Response,
        wait: Annotated[Literal["searchable"] | None, Query(description="Wait until recall can find it.")] = None,
        traceparent: TraceHeader = None,
        scope: TenantScope = sender,
    ) -> Accepted:
        """Accept one turn; on return it is durable and in the session's tail."""
        gateway.back_pressure.check()
        accepted = await accept_one(scope, add_trace(turn, traceparent), gateway.producer, gateway.clock)
        if accepted.status == "duplicate":
            response.status_code = HTTPStatus.OK
        if wait:
            accepted.searchable = await watch.wait_searchable(scope.tenant, accepted.event_id, gateway.wait_limit_ms)
        return accepted

    @router.post("/turns:batch", status_code=HTTPStatus.ACCEPTED, responses={429: {}})
    async def accept_turns(
        batch: TurnBatch, traceparent: TraceHeader = None, scope: TenantScope = sender
    ) -> BatchResult:
        """Accept up to 512 turns, each with its own result."""
        gateway.back_pressure.check()
        return await accept_batch(scope, batch.turns, gateway.producer, gateway.clock, traceparent)

    @router.get("/receipts/{event_id:path}", responses={404: {}})
    async def receipt(event_id: Annotated[str, Path(max_length=256)], scope: TenantScope = reader) -> Receipt:
        """Tell what has happened to an event so far."""
        fields = await gateway.receipts.read(scope.tenant, event_id)
        if fields is None:
            raise NotFound(f"event_id: no receipt for {event_id!r}; it was never accepted or its receipt has expired")
        return read_receipt(event_id, fields)

    return router


def read_receipt(event_id: str, fields: Mapping[str, object]) -> Receipt:
    """Reads a receipt as Redis keeps it; the host's trace lies there as `trace_id`, which elsewhere names an answer."""
    # The digest is the accepting script's own mark, of no use to a host.
    kept = {name: value for name, value in fields.items() if name not in ("digest", "trace_id")}
    return Receipt.model_validate({"event_id": event_id, "host_trace_id": fields.get("trace_id")} | kept)
