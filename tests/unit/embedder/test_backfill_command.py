"""`lithify backfill` asks the running node and tells what became of it."""

from typing import Any

import orjson
import pytest
import typer
from typer.testing import CliRunner

from lithify.cli.background import backfill
from lithify.client import Memory

app = typer.Typer()
app.command()(backfill)


@pytest.mark.parametrize(("is_new", "told"), [(True, "job b-1 is queued"), (False, "job b-1 is under way already")])
def test_the_job_is_named(monkeypatch: pytest.MonkeyPatch, is_new: bool, told: str) -> None:
    asked: list[tuple[str, str]] = []

    def request_json(self: Memory, method: str, path: str, body: Any = None, params: Any = None) -> dict[str, Any]:
        asked.append((method, path))
        return {"job_id": "b-1", "is_new": is_new}

    monkeypatch.setattr(Memory, "request_json", request_json)
    assert told in CliRunner().invoke(app, []).stderr
    assert orjson.loads(CliRunner().invoke(app, ["--json"]).stdout) == {"job_id": "b-1", "is_new": is_new}
    assert asked == [("POST", "/v1/maintenance/backfill")] * 2
