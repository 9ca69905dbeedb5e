"""Asks a service over and over whether it lives: `python -m tests.attack.liveness_watch URL`.

It is a process of its own, since whoever sends the attacks is too busy to measure time. It ends when its input does,
and then says in JSON how often it asked, how long the slowest answer took, and how many took longer than a second.
"""

import json
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

PERIOD_S: Final = 0.025
TIMEOUT_S: Final = 60.0
STALL_S: Final = 1.0


def ask_once(connection: HTTPConnection) -> float:
    """Returns how long the answer took; one that does not come counts as long as it was waited for."""
    started = time.perf_counter()
    try:
        connection.request("GET", "/livez")
        connection.getresponse().read()
    except (OSError, HTTPException):
        connection.close()
    return time.perf_counter() - started


def watch(url: str, ending: threading.Event) -> dict[str, float]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_S)
    waits: list[float] = []
    while not ending.is_set():
        waits.append(ask_once(connection))
        time.sleep(PERIOD_S)
    return {"asked": len(waits), "worst_s": max(waits), "stalls": sum(wait > STALL_S for wait in waits)}


def main() -> None:
    ending = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ending.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    print(json.dumps(watch(sys.argv[1], ending)))


if __name__ == "__main__":
    main()
