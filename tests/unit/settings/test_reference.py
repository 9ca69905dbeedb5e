"""The settings page is what the code says."""

from pathlib import Path

from lithify.settings.reference import settings_page


def test_the_settings_page_is_current() -> None:
    page = Path(__file__).parents[3] / "docs" / "settings.md"
    assert page.read_text("utf-8") == settings_page(), "run `make docs`"
