"""Takes the pictures of the documentation: a node with made-up data, each page in a light or dark browser."""

import sys
import tempfile
from pathlib import Path

import redis
from playwright.sync_api import Browser, sync_playwright

from lithify.node.redis_server import EmbeddedRedis
from lithify.settings import load_settings
from tests.browser.chromium import find_chromium, launch
from tests.browser.made_data import SEARCHED, fill, turns
from tests.integration.node_process import NodeProcess

QUESTION = SEARCHED.replace(" ", "+")
# Name of the file, address, colour scheme, width.
PICTURES = (
    ("overview-light", "", "light", 1280),
    ("overview-dark", "", "dark", 1280),
    ("overview-narrow", "", "light", 390),
    ("streams", "/streams", "light", 1280),
    ("jobs", "/jobs", "light", 1280),
    ("dead-letters", "/dead-letters", "light", 1280),
    ("workers", "/workers", "dark", 1280),
    ("search", f"/memory?query={QUESTION}&user=ada", "light", 1280),
    ("session", "/sessions?user=ada&session=lisbon", "light", 1280),
    ("playground", f"/playground?query={QUESTION}&user=ada&session=next&budget=400", "dark", 1280),
)
SECONDS_LIVE = 20


def take(browser: Browser, url: str, folder: Path, only: str = "") -> None:
    for name, path, scheme, width in PICTURES:
        if only not in name:
            continue
        page = browser.new_page(
            viewport={"width": width, "height": 860},
            color_scheme="dark" if scheme == "dark" else "light",
            device_scale_factor=1,
        )
        page.goto(f"{url}/dashboard{path}")
        if page.locator("#feed").count():
            page.locator("#feed[data-feed-state=live]").wait_for(timeout=60_000)
        # A long list looks the same all the way down.
        page.screenshot(path=str(folder / f"{name}.png"), full_page=width > 600 and name != "search")
        page.close()


def run_for_a_while(browser: Browser, node: NodeProcess) -> None:
    """Somebody looks while turns arrive, so that the chart has something to tell."""
    page = browser.new_page()
    page.goto(f"{node.url}/dashboard")
    for second in range(SECONDS_LIVE):
        said = tuple(("user", f"Note {second}-{place} about the garden.") for place in range(1 + second * 7 % 12))
        node.post("/v1/turns:batch", {"turns": turns("eve", f"garden{second}", said)}).raise_for_status()
        page.wait_for_timeout(1_000)
    page.close()


def main(folder: Path) -> None:
    chromium = find_chromium()
    if chromium is None:
        sys.exit("no Chromium: install one (Debian: apt-get install chromium) or set LITHIFY_TEST_CHROMIUM")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        node = NodeProcess(Path(place) / "data", load_settings().models_dir, LITHIFY_ARCHIVE="false")
        try:
            node.start()
            with redis.Redis.from_url(EmbeddedRedis(node.data_dir / "redis").url) as queue:
                fill(node.http, queue)
            browser = launch(playwright, chromium)
            run_for_a_while(browser, node)
            take(browser, node.url, folder)
            browser.close()
        finally:
            node.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
