"""Asks questions all the time, as both tenants, and looks for words of the other one in the answers."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

import httpx

from tests.chaos.forgetting_host import ask
from tests.chaos.host import ANSWER_TIMEOUT_S, Host
from tests.chaos.ledger import TENANTS, Ledger

# Questions cost more than turns; the two cores are for the turns.
PAUSE_S: Final = 1.0


async def keep_asking(
    ledger: Ledger, assemblies: Sequence[str], api_keys: Mapping[str, str], seed: int, seconds: float
) -> None:
    """Asks each tenant in turn for what the other one said, with the user and session names they share."""
    random = Random(f"{seed}/questions")  # noqa: S311 - repeatable on purpose
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    async with httpx.AsyncClient(timeout=ANSWER_TIMEOUT_S) as http:
        hosts = {tenant: Host(http, assemblies, api_keys[tenant], ledger.errors) for tenant in TENANTS}
        while clock() < end:
            await asyncio.sleep(PAUSE_S)
            said = ledger.acceptances
            if not said:
                continue
            about = random.choice(said)
            for tenant in TENANTS:
                await ask(hosts[tenant], ledger, tenant, ledger.turns[about.name])
