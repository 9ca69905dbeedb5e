"""SIGTERM and SIGINT: once means drain and leave, twice means leave at once."""

import asyncio
import os
import signal

EXIT_AT_ONCE = 130


def stop_on_signals(stop: asyncio.Event) -> None:
    """Sets `stop` on the first signal; the second ends the process without cleaning up."""

    def on_signal() -> None:
        if stop.is_set():
            os._exit(EXIT_AT_ONCE)
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
