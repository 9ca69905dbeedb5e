"""Turns request bodies into accepted events; the decisions of the gateway without its HTTP."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from lithify.errors import Conflict
from lithify.events import Clock, TenantScope, TurnInput
from lithify.events.event import Event, event_from_turn, turn_digest
from lithify.gateway.schema import Accepted, BatchItem, BatchResult, FieldError
from lithify.http.problem import field_errors
from lithify.streams import Acceptance, Producer, Receipts
from lithify.telemetry.metrics import EVENTS_ACCEPTED
from lithify.telemetry.trace_context import trace_id_of

# Short enough not to be felt, long enough not to load Redis while a batch is being embedded.
POLL_SECONDS = 0.01
# Marks of a receipt after which nothing more is to be waited for.
SETTLED = frozenset({"embedded_at", "ignored", "error"})


async def accept_one(scope: TenantScope, turn: TurnInput, producer: Producer, clock: Clock) -> Accepted:
    """Durable in Redis on return. Raises Conflict if the id was used with other content."""
    [acceptance] = await producer.accept([make_event(scope, turn, clock())])
    EVENTS_ACCEPTED.labels(acceptance.status).inc()
    if acceptance.status == "conflict":
        raise Conflict(f"event_id: {turn.event_id!r} was accepted before with other content")
    return Accepted(
        event_id=acceptance.event_id,
        stream_id=acceptance.stream_id,
        status=acceptance.status,
        seq=acceptance.seq,
    )


async def accept_batch(
    scope: TenantScope, bodies: Sequence[Any], producer: Producer, clock: Clock, traceparent: str | None = None
) -> BatchResult:
    """Accepts each turn by itself: a bad one does not refuse its neighbours."""
    now = clock()
    items: list[BatchItem | None] = []
    events: list[tuple[Event, str]] = []
    for index, body in enumerate(bodies):
        try:
            turn = TurnInput.model_validate(body)
        except ValidationError as error:
            items.append(invalid_item(index, body, error))
        else:
            items.append(None)
            events.append(make_event(scope, add_trace(turn, traceparent), now))
    accepted = iter(await producer.accept(events))
    results = [item or accepted_item(index, next(accepted)) for index, item in enumerate(items)]
    for status, count in Counter(item.status for item in results).items():
        EVENTS_ACCEPTED.labels(status).inc(count)
    return batch_result(results)


def add_trace(turn: TurnInput, traceparent: str | None) -> TurnInput:
    """Gives a turn the trace context of its request; its own wins, and a broken one of the request is ignored."""
    if turn.traceparent or trace_id_of(traceparent) is None:
        return turn
    return turn.model_copy(update={"traceparent": traceparent})


def make_event(scope: TenantScope, turn: TurnInput, now_ms: int) -> tuple[Event, str]:
    """Returns the event to publish and the digest that tells a retry from another turn under the same id."""
    return event_from_turn(turn, scope.tenant, now_ms), turn_digest(turn)


def invalid_item(index: int, body: Any, error: ValidationError) -> BatchItem:
    event_id = body.get("event_id") if isinstance(body, dict) else None
    errors = [FieldError(**e) for e in field_errors(error.errors(include_url=False, include_input=False))]
    return BatchItem(
        index=index, event_id=event_id if isinstance(event_id, str) else None, status="invalid", errors=errors
    )


def accepted_item(index: int, item: Acceptance) -> BatchItem:
    return BatchItem(index=index, event_id=item.event_id, status=item.status, stream_id=item.stream_id, seq=item.seq)


def batch_result(items: list[BatchItem]) -> BatchResult:
    counts = Counter(item.status for item in items)
    accepted, duplicate = counts["accepted"], counts["duplicate"]
    return BatchResult(
        accepted=accepted, duplicate=duplicate, rejected=len(items) - accepted - duplicate, results=items
    )


async def wait_searchable(scope: TenantScope, event_id: str, receipts: Receipts, limit_ms: int) -> bool:
    """Returns true as soon as recall can find the event; false when the limit passed or it never becomes memory."""
    try:
        async with asyncio.timeout(limit_ms / 1000):
            while True:
                receipt = await receipts.read(scope.tenant, event_id) or {}
                if receipt.keys() & SETTLED:
                    return "embedded_at" in receipt
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        return False
