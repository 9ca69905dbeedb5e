"""`lithify search` says what its options say, and leaves to the service what nobody chose."""

from typing import Any

import pytest
from typer.testing import CliRunner

from lithify.cli import query
from lithify.cli.main import app

CHOICES = {
    "session": "s1",
    "min_score": 0.2,
    "fusion": "weighted",
    "vector_weight": 0.4,
    "multiplier": 8,
    "half_life_days": 7.0,
    "relevance_share": 0.5,
    "threshold": 0.1,
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    body: dict[str, Any] = {}

    def answer(_url: str | None, _method: str, _path: str, sent: dict[str, Any]) -> dict[str, Any]:
        body.update(sent)
        return {"hits": [], "degraded": [], "trace_id": "t"}

    monkeypatch.setattr(query, "ask", answer)
    return body


def search(*options: str) -> None:
    assert CliRunner().invoke(app, ["search", "zebra", *options]).exit_code == 0


def test_every_choice_reaches_the_service(asked: dict[str, Any]) -> None:
    options = [word for name, value in CHOICES.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    search(*options, "--only-session", "--decay", "--mmr")
    assert asked.items() >= (CHOICES | {"only_session": True, "decay": True, "mmr": True}).items()


def test_what_nobody_chose_is_left_open(asked: dict[str, Any]) -> None:
    search()
    assert {asked[name] for name in ("session", "fusion", "vector_weight", "multiplier", "decay", "mmr")} == {None}
    search("--no-mmr")
    assert asked["mmr"] is False
