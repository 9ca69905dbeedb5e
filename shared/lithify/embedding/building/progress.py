"""How building tells what it is doing: the command line draws it, tests ignore it."""

from typing import Protocol


class Progress(Protocol):
    def say(self, text: str) -> None:
        """A new step begins."""

    def advance(self, done: int, total: int) -> None:
        """Bytes of the current step."""


class Quiet:
    def say(self, text: str) -> None:
        """Nobody listens."""

    def advance(self, done: int, total: int) -> None:
        """Nobody listens."""
