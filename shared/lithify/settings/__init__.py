"""Every knob of every process, read once at start from the environment."""

from lithify.settings.loading import load_settings, unknown_variables
from lithify.settings.model import Settings

__all__ = ["Settings", "load_settings", "unknown_variables"]
