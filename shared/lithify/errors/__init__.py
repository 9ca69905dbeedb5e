"""The three kinds of failure that decide what happens to a message, and the one that stops a process."""

from typing import Final

# Long enough to work a few batches off, short enough not to be felt by a background sender.
RETRY_AFTER_S: Final = 5


class LithifyError(Exception):
    """Unexpected failure inside Lithify."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class Invalid(LithifyError):
    """The input can never succeed; it goes to the dead letters at once."""


class Unavailable(LithifyError):
    """A dependency cannot be reached; the message stays pending and is tried again."""


class Doubtful(Unavailable):
    """A dependency failed at this request: it is away, or only this input is more than it can bear.

    Whoever serves many asks it for something known to be good before holding everybody up.
    """


class Overloaded(Unavailable):
    """More is waiting than may wait; nothing was accepted, send it again later."""

    def __init__(self, message: str | None = None, retry_after_s: int = RETRY_AFTER_S) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Conflict(LithifyError):
    """The same identifier was used before with other content."""


class Misconfigured(LithifyError):
    """The process cannot start with these settings or this data; exit code 3."""
