"""The two ways to be turned away at the door."""

from lithify.errors import LithifyError


class Unauthorised(LithifyError):
    """The API key is missing, unknown or revoked."""


class Forbidden(LithifyError):
    """The API key may not do this, or not for this tenant."""
