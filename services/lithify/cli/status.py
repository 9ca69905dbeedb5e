"""`lithify status`: how a running service is and what waits in its queues."""

from typing import Annotated, Any

import typer
from rich.table import Table

from lithify.cli.api import Api
from lithify.cli.console import data, emit_json
from lithify.settings import load_settings


def status(
    url: Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show health, counts and queues; exits 1 when the service is not ready."""
    answer = Api(load_settings(url=url)).call("GET", "/v1/status")
    if as_json:
        emit_json(answer)
    else:
        data.print(summary(answer), markup=False)
        data.print(stream_table(answer["streams"]))
    if not answer["ready"]:
        raise typer.Exit(1)


def summary(answer: dict[str, Any]) -> str:
    rows = {
        "model": describe(answer["embedder"], "profile", "mode", "reason"),
        "store": describe(answer["store"], "engine", "version", "reason"),
        "memories": (answer["store"] or {}).get("memories"),
        "unfinished": answer["unfinished"],
        "dead letters": answer["dead_letters"],
    }
    head = f"lithify {answer['version']}: {'ready' if answer['ready'] else 'NOT READY'}"
    return "\n".join([head, *(f"{name:<14}{value}" for name, value in rows.items() if value is not None)])


def describe(part: dict[str, Any] | None, *names: str) -> str | None:
    """A gateway by itself has neither model nor store."""
    return None if part is None else ", ".join(str(part[name]) for name in names if part[name])


def stream_table(streams: list[dict[str, Any]]) -> Table:
    """Ages before counts: a short queue that does not move is worse than a long one that does."""
    table = Table("stream", "group", "oldest unread", "oldest pending", "unread", "pending", box=None)
    for row in streams:
        ages = (f"{row[name] / 1000:.1f} s" for name in ("oldest_unread_ms", "oldest_pending_ms"))
        table.add_row(row["stream"], row["group"], *ages, str(row["unread"]), str(row["pending"]))
    return table
