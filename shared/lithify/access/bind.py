"""Refuses to be reachable from other machines while everybody who reaches the service may do everything."""

import ipaddress

from lithify.errors import Misconfigured


def require_safe_bind(host: str, *, keys_exist: bool) -> None:
    """Called at start, before the first request is answered. Raises Misconfigured with the way out."""
    if not keys_exist and not is_loopback(host):
        raise Misconfigured(
            f"setting LITHIFY_HOST cannot be {host!r}: without API keys only a loopback address is allowed. "
            "Make one first: lithify keys create --tenant NAME --scopes admin"
        )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
