"""Refuses what a foreign web page sends, by its Host and Origin, as long as no key keeps strangers out."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lithify.access import Forbidden, is_loopback
from lithify.errors import LithifyError
from lithify.http.problem import refuse

PROBES: Final = frozenset({"/livez", "/readyz"})
"""Answer to any name: whatever supervises a process asks by address, and they tell nothing about anybody."""

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# What browsers say of a request that a page of ours made, or a person by the address bar.
OWN_SITES: Final = frozenset({"same-origin", "none"})
SHOWN: Final = 100

# Stricter than the standard, which allows a user before the name: no browser sends one.
_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:@/?#\\\[\]]+)(?::([0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class Authority:
    """A host and its port as an address names them; `port` is None where the scheme decides."""

    host: str
    port: int | None
    is_loopback: bool = False


@dataclass(frozen=True, slots=True)
class KeylessRule:
    """Says when no key is needed, and by which names besides those of loopback the service is then reached."""

    is_keyless: Callable[[], Awaitable[bool]]
    allowed_hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, is_keyless: Callable[[], Awaitable[bool]], allowed_hosts: Iterable[str]) -> "KeylessRule":
        """Takes names as people write them, in capitals, with a port or a dot at the end."""
        parsed = (parse_authority(name) for name in allowed_hosts)
        return cls(is_keyless, frozenset(authority.host for authority in parsed if authority is not None))


class OriginCheck:
    """ASGI middleware that answers 403 to foreign requests while no key is needed.

    A page of the web may lead a name of its own to this machine (DNS rebinding) or send forms here (CSRF); neither
    can show a key, so that the check ends where keys begin.
    """

    def __init__(self, app: ASGIApp, rule: KeylessRule) -> None:
        self._app = app
        self._rule = rule

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = None
        if scope["type"] == "http" and scope["path"] not in PROBES:
            refused = await self._judge(Headers(scope=scope))
        if refused is None:
            await self._app(scope, receive, send)
        else:
            await refuse(refused)(scope, receive, send)

    async def _judge(self, headers: Headers) -> LithifyError | None:
        fault = find_foreign_part(headers, self._rule.allowed_hosts)
        if fault is None:
            return None
        try:
            # Asked last: what comes from this machine costs no question to Redis.
            return Forbidden(fault) if await self._rule.is_keyless() else None
        except LithifyError as error:
            return error


def find_foreign_part(headers: Headers, allowed_hosts: frozenset[str]) -> str | None:
    """Returns, in words, what shows that a request is not from this machine's own programs and pages; else None."""
    named = headers.getlist("host")
    host = parse_authority(named[0]) if len(named) == 1 else None
    if host is None or not (host.is_loopback or host.host in allowed_hosts):
        shown = ", ".join(named)[:SHOWN]
        return (
            f"host: {shown!r} is not this machine; without API keys use http://127.0.0.1 or localhost, "
            "or name the host in LITHIFY_ALLOWED_HOSTS"
        )
    if not is_same_origin(headers):
        return "origin: without API keys only programs and pages of this address are served; open it by itself"
    return None


def is_same_origin(headers: Headers) -> bool:
    """Is true for pages of the address they call, and for what is no browser and says nothing about it.

    The scheme is not compared: behind a proxy that speaks TLS it is another one.
    """
    if not OWN_SITES.issuperset(headers.getlist("sec-fetch-site")):
        return False
    host = parse_authority(headers.get("host", ""))
    return all(_leads_to(origin, host) for origin in headers.getlist("origin"))


@lru_cache(maxsize=256)
def parse_authority(text: str) -> Authority | None:
    """Reads `name`, `name:port`, `address` or `[address]:port`, in any case and with a dot at the end of the name."""
    match = _AUTHORITY.fullmatch(text.strip().lower())
    if match is None:
        return None
    name, port = match.groups()
    host = name.strip("[]").removesuffix(".")
    return Authority(host, None if port is None else int(port), is_loopback(host))


def _leads_to(origin: str, host: Authority | None) -> bool:
    try:
        scheme, authority, *rest = urlsplit(origin)
    except ValueError:
        return False
    own = parse_authority(authority)
    default = DEFAULT_PORTS.get(scheme)
    if host is None or own is None or default is None or any(rest):
        return False
    return own.host == host.host and (own.port or default) == (host.port or default)
