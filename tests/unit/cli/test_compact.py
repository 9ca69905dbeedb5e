"""`lithify compact` against a service that answers as it is told."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lithify.cli import background as command
from lithify.cli.background import CompactionFailed, compact
from lithify.client import Memory

RESULT = {
    "did_compact": True,
    "clusters_formed": 3,
    "clusters_declined": 1,
    "turns_removed": 40,
    "summary_method": "extractive",
    "mean_confidence": 0.714,
}
app = typer.Typer()
app.command()(compact)

Serve = Callable[..., list[tuple[str, str, Any]]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Answers the calls in order, and keeps them."""

    def answering(*answers: dict[str, Any]) -> list[tuple[str, str, Any]]:
        calls: list[tuple[str, str, Any]] = []

        def request_json(_: Memory, method: str, path: str, body: Any = None, params: Any = None) -> Any:
            calls.append((method, path, body or params))
            return answers[len(calls) - 1]

        monkeypatch.setattr(Memory, "request_json", request_json)
        monkeypatch.setattr(command, "POLL_S", 0)
        return calls

    return answering


def test_session_is_named_safely_and_the_ticket_is_shown(serve: Serve) -> None:
    calls = serve({"job_id": "j", "is_new": True})
    shown = CliRunner().invoke(app, ["a/b c", "--user", "ada", "--force"])
    assert calls == [("POST", "/v1/sessions/a%2Fb%20c/compact", {"user": "ada", "force": True})]
    assert shown.stdout == "j  queued\n"


def test_waiting_polls_until_the_job_has_ended(serve: Serve) -> None:
    states = [{"job_id": "j", "status": status, "result": None, "error": None} for status in ("queued", "started")]
    calls = serve({"job_id": "j", "is_new": False}, *states, {"job_id": "j", "status": "finished", "result": RESULT})
    shown = CliRunner().invoke(app, ["s", "--user", "a&b", "--wait"])
    assert calls[1:] == [("GET", "/v1/sessions/s/compact", {"user": "a&b"})] * 3
    assert "40 turns became 2 summaries (extractive, confidence 0.71); 1 clusters declined" in shown.stdout


def test_nothing_to_do_is_no_failure(serve: Serve) -> None:
    serve({"job_id": "j", "is_new": True}, {"job_id": "j", "status": "finished", "result": {"did_compact": False}})
    shown = CliRunner().invoke(app, ["s", "--user", "ada", "--wait"])
    assert (shown.exit_code, "nothing compacted" in shown.stdout) == (0, True)


def test_failed_compaction_fails_the_command_and_says_why(serve: Serve) -> None:
    serve({"job_id": "j", "is_new": True}, {"job_id": "j", "status": "failed", "result": None, "error": "disk full"})
    shown = CliRunner().invoke(app, ["s", "--user", "ada", "--wait"])
    assert isinstance(shown.exception, CompactionFailed)
    assert "disk full" in str(shown.exception)


def test_json_is_the_services_answer(serve: Serve) -> None:
    serve({"job_id": "j", "is_new": True})
    shown = CliRunner().invoke(app, ["s", "--user", "ada", "--json"])
    assert json.loads(shown.stdout) == {"job_id": "j", "is_new": True}
