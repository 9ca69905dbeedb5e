"""Places where a test may end the process hard, to prove that no window between two steps loses anything."""

import os

EXIT_CODE = 137
"""What a shell reports after kill -9."""

_armed: str | None = None


def arm(name: str | None) -> None:
    """Arms one crash point, once from main with the setting; None, the default, leaves every point inert."""
    global _armed  # noqa: PLW0603 - one switch per process, so that a crash point costs one comparison
    _armed = name


def crash_point(name: str) -> None:
    if name == _armed:
        os._exit(EXIT_CODE)
