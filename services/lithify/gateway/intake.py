"""Turns request bodies into accepted events; the decisions of the gateway without its HTTP."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError

from lithify.errors import Conflict, Invalid
from lithify.events import Clock, TenantScope, TurnInput
from lithify.events.event import Event, event_from_turn, turn_digest
from lithify.gateway.schema import Accepted, BatchItem, BatchResult, FieldError
from lithify.http.problem import field_errors, shorten
from lithify.streams import Acceptance, Producer
from lithify.telemetry.metrics import EVENTS_ACCEPTED
from lithify.telemetry.trace_context import read_traceparent

# How long the turns of a batch are checked before other requests have theirs; a full batch takes tenths of a second.
SHIFT_S: Final = 0.01
# No id is longer; one that is belongs to no turn, and is told as far as it helps to find it.
MAX_ID_CHARS: Final = 256
# Of one turn: a batch of five hundred bad ones must not be answered by more than it said.
MAX_ERRORS: Final = 8


async def accept_one(scope: TenantScope, turn: TurnInput, producer: Producer, clock: Clock) -> Accepted:
    """Durable in Redis on return.

    Raises Conflict if the id was used with other content, Invalid if its position lies too far ahead.
    """
    [acceptance] = await producer.accept([make_event(scope, turn, clock())])
    if acceptance.status == "far":
        EVENTS_ACCEPTED.labels("invalid").inc()
        raise Invalid(f"seq: {describe_distance(acceptance)}")
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
    shift_ends = time.monotonic() + SHIFT_S
    for index, body in enumerate(bodies):
        if time.monotonic() > shift_ends:
            await asyncio.sleep(0)
            shift_ends = time.monotonic() + SHIFT_S
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
    """Gives a turn the trace context of its request; its own wins, and a broken one is ignored."""
    context = read_traceparent(turn.traceparent) or read_traceparent(traceparent)
    # Nothing is checked in the copy, so that only what was read may go in.
    return turn if context == turn.traceparent else turn.model_copy(update={"traceparent": context})


def make_event(scope: TenantScope, turn: TurnInput, now_ms: int) -> tuple[Event, str]:
    """Returns the event to publish and the digest that tells a retry from another turn under the same id."""
    return event_from_turn(turn, scope.tenant, now_ms), turn_digest(turn)


def invalid_item(index: int, body: Any, error: ValidationError) -> BatchItem:
    event_id = body.get("event_id") if isinstance(body, dict) else None
    found = error.errors(include_url=False, include_input=False)[:MAX_ERRORS]
    errors = [FieldError(**e) for e in field_errors(found)]
    known = shorten(event_id, MAX_ID_CHARS) if isinstance(event_id, str) else None
    return BatchItem(index=index, event_id=known, status="invalid", errors=errors)


def describe_distance(item: Acceptance) -> str:
    return f"lies too far beyond {item.seq}, the highest position of its session"


def accepted_item(index: int, item: Acceptance) -> BatchItem:
    if item.status == "far":
        error = FieldError(field="seq", message=describe_distance(item))
        return BatchItem(index=index, event_id=item.event_id, status="invalid", errors=[error])
    return BatchItem(index=index, event_id=item.event_id, status=item.status, stream_id=item.stream_id, seq=item.seq)


def batch_result(items: list[BatchItem]) -> BatchResult:
    counts = Counter(item.status for item in items)
    accepted, duplicate = counts["accepted"], counts["duplicate"]
    return BatchResult(
        accepted=accepted, duplicate=duplicate, rejected=len(items) - accepted - duplicate, results=items
    )
