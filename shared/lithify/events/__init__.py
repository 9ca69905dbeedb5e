"""What travels through the pipeline: turns as hosts send them, events as streams carry them, and whose they are."""

from lithify.events.clock import Clock, system_clock
from lithify.events.event import Event, decode_event, encode_event, is_heartbeat
from lithify.events.scope import EVERY_TENANT, AnyTenant, EveryTenant, TenantScope
from lithify.events.turn import Role, TurnBatch, TurnInput

__all__ = [
    "EVERY_TENANT",
    "AnyTenant",
    "Clock",
    "Event",
    "EveryTenant",
    "Role",
    "TenantScope",
    "TurnBatch",
    "TurnInput",
    "decode_event",
    "encode_event",
    "is_heartbeat",
    "system_clock",
]
