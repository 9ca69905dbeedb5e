"""Builds models without a word."""


class SilentProgress:
    """Implements BuildProgress for tests that do not listen."""

    def say(self, text: str) -> None:
        """Does nothing."""

    def advance(self, done: int, total: int) -> None:
        """Does nothing."""
