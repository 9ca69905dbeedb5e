"""What all HTTP services share: JSON in and out, body limits, and errors as problem+json (RFC 9457)."""

from lithify.http.app import create_app
from lithify.http.problem import NotFound
from lithify.http.route import JsonRoute

__all__ = ["JsonRoute", "NotFound", "create_app"]
