"""The W3C trace context a host may send with a turn, read so far that log lines can name the trace."""

import re
from typing import Final

HEADER: Final = "traceparent"
# What version 00 has, and with what every later version begins.
LENGTH: Final = 55

_VERSION: Final = "00"
_SAMPLED: Final = 1
_TRACEPARENT = re.compile(r"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})")


def read_traceparent(value: str | None) -> str | None:
    """Returns the context in the form of version 00, which is 55 characters long; None if it is missing or broken.

    The standard has receivers ignore a broken context, so no turn is refused for it. A later version may say more than
    this one: what it adds is left out, as are the flags that only it knows.
    """
    match = _TRACEPARENT.match(value) if value else None
    if match is None or value is None:
        return None
    version, trace, parent, flags = match.groups()
    if version == _VERSION:
        return value if len(value) == LENGTH else None
    if len(value) > LENGTH and value[LENGTH] != "-":
        return None
    return f"{_VERSION}-{trace}-{parent}-{int(flags, 16) & _SAMPLED:02x}"


def trace_id_of(traceparent: str | None) -> str | None:
    """Returns the id of the trace; None for a missing or broken context."""
    context = read_traceparent(traceparent)
    return context.split("-")[1] if context else None
