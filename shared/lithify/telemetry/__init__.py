"""Logs, metrics and trace contexts: how processes tell what they do, by ids and sizes, never content."""

from lithify.telemetry.logs import configure_logs

__all__ = ["configure_logs"]
