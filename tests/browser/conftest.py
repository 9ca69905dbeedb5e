"""One node and one Chromium for all browser tests; a page that complains on its console fails its test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from lithify.node.redis_server import EmbeddedRedis
from tests.browser.chromium import find_chromium, launch
from tests.browser.made_data import fill
from tests.integration.node_process import NodeProcess

# A machine that is busy with other tests is slow to draw.
expect.set_options(timeout=30_000)

MISSING = "no Chromium: install one (Debian: apt-get install chromium) or set LITHIFY_TEST_CHROMIUM"


@pytest.fixture(scope="session")
def chromium() -> str:
    path = find_chromium()
    if path is None:
        if os.environ.get("LITHIFY_REQUIRE_BROWSER") == "1":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return path


@pytest.fixture(scope="module")
def node(chromium: str, models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    """With something on every page."""
    running = NodeProcess(tmp_path_factory.mktemp("node") / "data", models_dir, LITHIFY_ARCHIVE="false")
    try:
        running.start()
        with redis.Redis.from_url(EmbeddedRedis(running.data_dir / "redis").url) as queue:
            fill(running.http, queue)
        yield running
    finally:
        running.close()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """No longer than a file: as long as it is open, its loop keeps all others from running."""
    with sync_playwright() as playwright:
        opened = launch(playwright, chromium)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, node: NodeProcess) -> Iterator[Page]:
    context = browser.new_context(base_url=node.url, locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(60_000)
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert not complaints, complaints
