"""Retrieval profiles: the two that are shipped, and those that operators write as TOML files."""

from lithify.profiles.choice import BUILT_IN, load_profile
from lithify.profiles.profile_text import render_profile
from lithify.profiles.reading import parse_profile

__all__ = ["BUILT_IN", "load_profile", "parse_profile", "render_profile"]
