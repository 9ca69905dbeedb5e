"""Runs the Lua scripts beside this module: by digest, and by text when the server does not know them yet."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError


@dataclass(frozen=True, slots=True)
class Script:
    text: str
    sha: str

    async def run(self, redis: Redis, keys: Sequence[str], args: Sequence[str | bytes | int]) -> Any:
        try:
            return await redis.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return await redis.eval(self.text, len(keys), *keys, *args)


@cache
def load(name: str) -> Script:
    text = resources.files("lithify.streams").joinpath("lua", f"{name}.lua").read_text()
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
