"""The three kinds of failure that decide what happens to a message, and the one that stops a process."""


class LithifyError(Exception):
    """Unexpected failure inside Lithify."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or self.__doc__)


class Invalid(LithifyError):
    """The input can never succeed; it goes to the dead letters at once."""


class Unavailable(LithifyError):
    """A dependency cannot be reached; the message stays pending and is tried again."""


class Conflict(LithifyError):
    """The same identifier was used before with other content."""


class Misconfigured(LithifyError):
    """The process cannot start with these settings or this data; exit code 3."""
