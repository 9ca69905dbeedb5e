"""Tells a web address about a notice; that it cannot be reached is no reason for the work to fail."""

from collections.abc import Mapping
from typing import Any, Final

import httpx
import structlog

TIMEOUT_S: Final = 10.0

log = structlog.get_logger(__name__)


async def post_notice(url: str, notice: Mapping[str, Any]) -> bool:
    """Whether it was taken."""
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as http:
            answer = await http.post(url, json=dict(notice))
            answer.raise_for_status()
    except httpx.HTTPError as error:
        log.warning("docs_webhook_failed", kind=type(error).__name__)
        return False
    return True
