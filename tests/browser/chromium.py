"""Finds a real Chromium and starts it so that it talks to nobody but the page under test."""

import os
import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# As root a browser in a container has no sandbox; the rest keeps it from calling home.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    named = os.environ.get("LITHIFY_TEST_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


def launch(playwright: Playwright, path: str) -> Browser:
    return playwright.chromium.launch(executable_path=path, args=list(FLAGS), timeout=120_000)
