"""How processes tell what they do: structured logs with ids and sizes, never content."""

from lithify.telemetry.logs import configure_logs

__all__ = ["configure_logs"]
