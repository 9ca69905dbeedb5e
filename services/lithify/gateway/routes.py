"""The gateway's HTTP surface."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Path, Query, Response

from lithify.access import KeyScope
from lithify.events import Clock, TenantScope, TurnBatch, TurnInput
from lithify.gateway.intake import accept_batch, accept_one, wait_searchable, with_trace
from lithify.gateway.schema import Accepted, BatchResult, Receipt
from lithify.gateway.valve import Valve
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.streams import Producer, Receipts

TraceHeader = Annotated[str | None, Header(description="W3C trace context of turns that carry none themselves.")]


@dataclass(frozen=True, slots=True)
class Gateway:
    """What the gateway needs to work."""

    producer: Producer
    receipts: Receipts
    clock: Clock
    wait_limit_ms: int
    valve: Valve


def gateway_router(gateway: Gateway, access: Access) -> APIRouter:
    router = APIRouter(prefix="/v1", tags=["ingest"], route_class=JsonRoute)
    sender, reader = Depends(access.needs(KeyScope.INGEST)), Depends(access.needs(KeyScope.READ))

    @router.post("/turns", status_code=HTTPStatus.ACCEPTED, responses={200: {"model": Accepted}, 409: {}, 429: {}})
    async def accept_turn(
        turn: TurnInput,
        response: Response,
        wait: Annotated[Literal["searchable"] | None, Query(description="Wait until recall can find it.")] = None,
        traceparent: TraceHeader = None,
        scope: TenantScope = sender,
    ) -> Accepted:
        """Accept one turn; on return it is durable and in the session's tail."""
        gateway.valve.check()
        accepted = await accept_one(scope, with_trace(turn, traceparent), gateway.producer, gateway.clock)
        if accepted.status == "duplicate":
            response.status_code = HTTPStatus.OK
        if wait:
            waiting = wait_searchable(scope, accepted.event_id, gateway.receipts, gateway.wait_limit_ms)
            accepted.searchable = await waiting
        return accepted

    @router.post("/turns:batch", status_code=HTTPStatus.ACCEPTED, responses={429: {}})
    async def accept_turns(
        batch: TurnBatch, traceparent: TraceHeader = None, scope: TenantScope = sender
    ) -> BatchResult:
        """Accept up to 512 turns, each with its own result."""
        gateway.valve.check()
        return await accept_batch(scope, batch.turns, gateway.producer, gateway.clock, traceparent)

    @router.get("/receipts/{event_id:path}", responses={404: {}})
    async def receipt(event_id: Annotated[str, Path(max_length=256)], scope: TenantScope = reader) -> Receipt:
        """What has happened to an event so far."""
        fields = await gateway.receipts.read(scope.tenant, event_id)
        if fields is None:
            raise NotFound(f"event_id: no receipt for {event_id!r}; it was never accepted or its receipt has expired")
        fields.pop("digest", None)  # the accepting script's own mark, of no use to a host
        return Receipt.model_validate({"event_id": event_id} | fields)

    return router
