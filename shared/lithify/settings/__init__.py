"""Every knob of every process, read once at start from the environment."""

from lithify.settings.loading import load_settings, unknown_variables
from lithify.settings.model import Settings, resolve_embedding_name

__all__ = ["Settings", "load_settings", "resolve_embedding_name", "unknown_variables"]
