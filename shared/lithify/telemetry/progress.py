"""The callbacks by which long work says how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the stage of the work, how much of it is done, and how much there is."""

StageProgress = Callable[[int, int], None]
"""Called with how much of one stage is done, and how much there is."""
