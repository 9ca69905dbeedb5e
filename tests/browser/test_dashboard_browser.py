"""The dashboard in a real browser: every page, live figures, forms, keyboard, both themes and a narrow screen."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lithify.dashboard.pages import NAVIGATION
from tests.browser.made_data import SEARCHED, turns
from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.browser

PATIENCE_MS = 60_000


def figure(page: Page, name: str) -> Any:
    return page.locator(f'[data-live="{name}"]').first


def test_every_page_opens_from_the_navigation(page: Page) -> None:
    page.goto("/dashboard")
    for path, words in NAVIGATION:
        page.get_by_role("navigation").get_by_role("link", name=words, exact=True).click()
        expect(page).to_have_url(re.compile(rf"/dashboard{re.escape(path)}$"))
        expect(page.locator("h1")).to_be_visible()
        expect(page.get_by_role("navigation").locator("[aria-current=page]")).to_have_text(words)


def test_figures_change_by_themselves_after_an_ingest(page: Page, node: NodeProcess) -> None:
    page.goto("/dashboard/streams")
    expect(page.locator("#feed")).to_have_text("live", timeout=PATIENCE_MS)
    before = added(page)
    fresh = turns("eve", "live", (("user", "The kettle is on."), ("user", "The kettle whistles.")))
    node.post("/v1/turns:batch", {"turns": fresh}).raise_for_status()
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while added(page) < before + 2:
        assert time.monotonic() < deadline, "the open page did not renew its figures"
        page.wait_for_timeout(100)
    page.goto("/dashboard")
    expect(figure(page, "stage.embed.unread")).to_have_text("0", timeout=PATIENCE_MS)
    expect(page.locator("polyline[data-live-points=accepted]")).to_have_attribute("points", re.compile(r"\d+"))


def added(page: Page) -> int:
    counts = page.locator('[data-live$=".added"]').all_text_contents()
    return sum(int(count.replace(",", "")) for count in counts)


def test_a_dead_letter_is_redriven_and_then_found(page: Page, node: NodeProcess) -> None:
    page.goto("/dashboard/dead-letters")
    page.get_by_role("link", name="given-up-1").click()
    expect(page.get_by_text("the embedder refused the text")).to_be_visible()
    page.get_by_role("button", name="Redrive").click()
    expect(page.get_by_text("1 put back onto their streams.")).to_be_visible()
    expect(page.get_by_role("link", name="given-up-1")).to_have_count(0)
    node.wait_drained()
    hits = node.post("/v1/search", {"query": "studio in Rua da Rosa", "user": "ada"}).json()["hits"]
    assert "given-up-1" in [hit["event_id"] for hit in hits]


def test_purging_needs_a_second_step(page: Page) -> None:
    page.goto("/dashboard/dead-letters")
    expect(page.get_by_role("button", name="Purge chosen")).not_to_be_visible()
    page.get_by_text("Purge…").click()
    page.get_by_label(re.compile("Choose letter")).last.check()
    page.get_by_role("button", name="Purge chosen").click()
    expect(page.get_by_text("1 deleted for good.")).to_be_visible()


def test_a_failed_job_shows_its_trace_and_can_be_retried(page: Page) -> None:
    page.goto("/dashboard/jobs")
    page.get_by_role("link", name="tidy_up").click()
    expect(page.locator("pre")).to_contain_text("no job is named tidy_up")
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("1 queued again.")).to_be_visible()


def test_the_explorer_finds_a_memory_and_shows_its_score_components(page: Page) -> None:
    page.goto("/dashboard/memory")
    page.get_by_label("Question").fill(SEARCHED)
    page.get_by_label("User").fill("ada")
    page.keyboard.press("Enter")
    expect(page.locator(".hits")).to_contain_text("I moved to Lisbon in May")
    first = page.locator(".hits > li").first
    for component in ("score", "dense", "lexical"):
        expect(first.locator("dt", has_text=component).first).to_be_visible()


def test_a_session_shows_its_summary_its_compacted_turns_and_its_tail(page: Page) -> None:
    page.goto("/dashboard/sessions")
    page.get_by_label("User").fill("ada")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="lisbon").click()
    expect(page.get_by_role("heading", name="Turns")).to_be_visible()
    expect(page.locator(".timeline .chip", has_text="tail").first).to_be_visible()
    expect(page.get_by_role("heading", name="Summaries")).to_be_visible()
    expect(page.locator(".timeline .chip", has_text="compacted").first).to_be_visible()


def test_the_playground_draws_the_budget_and_explains_every_candidate(page: Page) -> None:
    page.goto("/dashboard/playground")
    page.get_by_label("Question").fill(SEARCHED)
    page.get_by_label("User").fill("ada")
    page.get_by_label("Session").fill("another")
    page.get_by_label("Token budget").fill("400")
    page.get_by_role("button", name="Assemble").click()
    expect(page.locator("pre").first).to_contain_text("Lisbon")
    expect(page.locator("pre").first).to_contain_text(re.compile(r"\[M1 \d{4}-\d\d-\d\d (user|assistant)\] "))
    expect(page.get_by_text("of 400 tokens")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Said")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Helps")).to_be_visible()
    expect(page.locator("svg.budget rect")).not_to_have_count(0)
    expect(page.get_by_text("in the prompt").first).to_be_visible()


def test_the_keyboard_alone_reaches_content_and_pages(page: Page) -> None:
    page.goto("/dashboard")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.get_by_role("link", name="Streams").focus()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Streams")


def test_the_theme_is_kept_from_page_to_page(page: Page) -> None:
    page.goto("/dashboard")
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    page.goto("/dashboard/workers")
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 23, 26)"


def test_no_page_is_wider_than_a_small_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    queries = ("/playground?user=ada&session=lisbon&query=Lisbon", "/sessions?user=ada&session=lisbon")
    for path in (*(path for path, _ in NAVIGATION), *queries, "/memory?query=Lisbon&user=ada"):
        page.goto(f"/dashboard{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_every_control_has_a_name_and_every_table_a_caption(page: Page) -> None:
    queries = ("/playground?user=ada&session=lisbon&query=Lisbon", "/sessions?user=ada&session=lisbon")
    for path in (*(path for path, _ in NAVIGATION), *queries):
        page.goto(f"/dashboard{path}")
        nameless = page.evaluate(
            """() => [...document.querySelectorAll("input:not([type=hidden]), select, button, a")].filter(
                one => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim())).length"""
        )
        assert nameless == 0, path
        assert page.locator("table:not(:has(caption))").count() == 0, path
        assert page.locator("h1").count() == 1, path
