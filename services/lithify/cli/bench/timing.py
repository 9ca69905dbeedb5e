"""How long a call takes, by the clock that measures."""

import time
from collections.abc import Awaitable, Callable


def measure_seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


async def measure_ms(work: Awaitable[object]) -> float:
    """Awaits the work and returns its milliseconds."""
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000
