"""What of a record the model reads: the same when it is first embedded, made up for, and moved to another model."""

from collections.abc import Mapping
from typing import Any


def model_text(payload: Mapping[str, Any]) -> str | None:
    """The text; under its headings if it is a piece of a document, whose words alone do not say what it is about."""
    text, headings = payload.get("text"), payload.get("heading_path")
    return f"{headings}\n{text}" if headings and text else text
