"""What `lithify status` shows, and how watching it goes on through an outage."""

from collections.abc import Iterator
from io import StringIO
from typing import Any, cast

import pytest
from rich.console import Console
from typer.testing import CliRunner

from lithify.cli.main import app
from lithify.cli.status import SILENT_MS, describe_state, status_page
from lithify.client import Memory
from lithify.errors import Unavailable

NOW = 1_900_000_000_000
WORKER: dict[str, Any] = {
    "kind": "embed",
    "name": "e1-0",
    "host": "box",
    "pid": 4711,
    "beat_at": NOW - 2_000,
    "ready": True,
    "outage": None,
    "in_flight": 3,
    "tally": {"handled": 120, "redelivered": 1, "failed": 2, "dead": 0, "lost": 0},
}
STREAM = {
    "stream": "lithify:turns:{0}",
    "group": "embed",
    "unread": 7,
    "pending": 2,
    "oldest_unread_ms": 1500,
    "oldest_pending_ms": 0,
}
ANSWER: dict[str, Any] = {
    "version": "1.2.3",
    "ready": True,
    "embedder": {"profile": "mini", "mode": "full", "reason": None},
    "profile": {"name": "recall", "digest": "0123456789abcdef" * 4},
    "store": {"engine": "qdrant", "version": "1.16", "reason": None, "memories": 42},
    "streams": [STREAM],
    "unfinished": 9,
    "unsearchable": 9,
    "dead_letters": 0,
    "workers": [WORKER],
}


def drawn(answer: dict[str, Any]) -> str:
    console = Console(width=120, file=StringIO())
    console.print(status_page(answer, NOW))
    return cast("StringIO", console.file).getvalue()


def test_counts_queues_and_workers_are_shown() -> None:
    shown = drawn(ANSWER)
    for words in (
        "lithify 1.2.3",
        "ready",
        "recall 0123456789ab",
        "42",
        "lithify:turns:{0}",
        "1.5 s",
        "embed e1-0",
        "4711",
        "reading",
        "120",
    ):
        assert words in shown


def test_a_gateway_without_store_and_model_is_shown_too() -> None:
    shown = drawn(ANSWER | {"store": None, "embedder": None, "workers": [], "profile": None, "ready": False})
    assert "NOT READY" in shown
    assert "memories" not in shown


@pytest.mark.parametrize(
    ("change", "age", "words"),
    [
        ({}, 0, "reading"),
        ({}, SILENT_MS + 1, "silent"),
        ({"outage": "redis [away]"}, 0, "waits"),
        ({"ready": False}, 0, "not reading"),
    ],
)
def test_a_worker_that_does_not_work_is_told_from_one_that_does(change: dict[str, Any], age: int, words: str) -> None:
    assert words in describe_state(WORKER | change, age)


def test_watching_goes_on_through_an_outage_and_ends_with_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: Iterator[Any] = iter((ANSWER, Unavailable("gone for a moment"), ANSWER | {"unfinished": 5}))

    def answer(_: Memory) -> Any:
        given = next(answers, KeyboardInterrupt())
        if isinstance(given, BaseException):
            raise given
        return given

    monkeypatch.setattr(Memory, "status", answer)
    monkeypatch.setattr("lithify.cli.status.time.sleep", lambda _: None)
    looks: list[Any] = []
    monkeypatch.setattr("lithify.cli.status.Live.update", lambda _, shown, **__: looks.append(shown))
    done = CliRunner().invoke(app, ["status", "--watch"])
    assert done.exit_code == 0
    assert len(looks) == 3


def test_watching_is_not_for_programs() -> None:
    refused = CliRunner().invoke(app, ["status", "--watch", "--json"])
    assert refused.exit_code == 1
    assert "--watch is for people" in str(refused.exception)


def test_a_kept_model_is_shown_with_the_way_to_the_default() -> None:
    kept = {"profile": "mini", "mode": "primary", "reason": None, "kept": True}
    shown = drawn(ANSWER | {"embedder": kept})
    assert "kept" in shown
    assert "lithify reembed" in shown
    assert "reembed" not in drawn(ANSWER)
