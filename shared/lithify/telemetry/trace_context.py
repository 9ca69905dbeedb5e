"""The W3C trace context a host may send with a turn, read so far that log lines can name the trace."""

import re
from typing import Final

HEADER: Final = "traceparent"

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")


def trace_id_of(traceparent: str | None) -> str | None:
    """Returns None for a missing or broken context: the standard has receivers ignore it, and no turn is refused."""
    match = _TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return match.group(1) if match else None
