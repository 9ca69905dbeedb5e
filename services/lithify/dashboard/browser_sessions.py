"""Keeps browser sessions: who has logged in with which API key, so that a browser need not keep the key itself.

The browser holds a random token in a cookie that scripts cannot read. Redis holds, under the digest of the token, the
key mixed with a stream of bytes made from the token: whoever reads Redis has neither the token nor the key, whoever has
the cookie has the key only as long as the record lives. A token is used for one key only, ever.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from typing import Final, cast

from redis.asyncio import Redis

from lithify.streams import keys
from lithify.streams.outage import outages

TOKEN_BYTES: Final = 32
# A working day; then the key has to be shown again.
TTL_S: Final = 12 * 3_600

_TOKEN: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BrowserSessions:
    """Begins, finds and ends sessions. Every call raises Unavailable if Redis did not answer."""

    redis: Redis

    async def begin(self, api_key: str) -> str:
        """Returns the token of a new session."""
        token = new_token()
        with outages():
            await self.redis.set(keys.browser_session(digest_of(token)), mask_key(token, api_key.encode()), ex=TTL_S)
        return token

    async def find_api_key(self, token: str) -> str | None:
        """Returns the API key of a session that goes on; None if it has ended or never was."""
        with outages():
            masked = cast("bytes | None", await self.redis.get(keys.browser_session(digest_of(token))))
        return None if masked is None else mask_key(token, masked).decode(errors="replace")

    async def end(self, token: str) -> None:
        with outages():
            await self.redis.delete(keys.browser_session(digest_of(token)))


def new_token() -> str:
    return secrets.token_hex(TOKEN_BYTES)


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def csrf_token(token: str) -> str:
    """Returns what every form carries, to show that it came from a page of the same session."""
    return hmac.digest(token.encode(), b"lithify dashboard form", "sha256").hex()


def mask_key(token: str, text: bytes) -> bytes:
    """Mixes a key with bytes made from the token; doing it again gives the key back."""
    stream = hashlib.shake_256(b"lithify dashboard key" + token.encode()).digest(len(text))
    return bytes(one ^ other for one, other in zip(text, stream, strict=True))
