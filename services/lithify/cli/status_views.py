"""The answer of `/v1/status` as tables for a terminal; no I/O."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Group
from rich.markup import escape
from rich.table import Table

# Workers beat every five seconds; three missed beats are no slow moment any more.
SILENT_MS: Final = 15_000
ALARM: Final = "bold red"

Row = Mapping[str, Any]


def page(answer: Row, now_ms: int) -> Group:
    return Group(
        summary_table(answer),
        "",
        stream_table(answer["streams"]),
        "",
        worker_table(answer.get("workers") or (), now_ms),
    )


def plain_table(*columns: str) -> Table:
    return Table(*columns, box=None, padding=(0, 2, 0, 0), header_style="dim")


def summary_table(answer: Row) -> Table:
    store = answer["store"] or {}
    rows = {
        "model": describe(answer["embedder"], "profile", "mode", "reason"),
        "store": describe(answer["store"], "engine", "version", "reason"),
        "memories": store.get("memories"),
        "unsearchable": answer["unsearchable"],
        "unfinished": answer["unfinished"],
        "dead letters": alarm(answer["dead_letters"]),
    }
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(f"lithify {answer['version']}", "ready" if answer["ready"] else f"[{ALARM}]NOT READY[/]")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, str(value))
    return table


def describe(part: Row | None, *names: str) -> str | None:
    """A gateway by itself has neither model nor store."""
    return None if part is None else escape(", ".join(str(part[name]) for name in names if part[name]))


def alarm(count: int) -> str:
    return f"[{ALARM}]{count}[/]" if count else "0"


def stream_table(streams: Sequence[Row]) -> Table:
    """Ages before counts: a short queue that does not move is worse than a long one that does."""
    table = plain_table("stream", "group", "oldest unread", "oldest pending", "unread", "pending")
    for row in streams:
        ages = (f"{row[name] / 1000:.1f} s" for name in ("oldest_unread_ms", "oldest_pending_ms"))
        table.add_row(row["stream"], row["group"], *ages, str(row["unread"]), str(row["pending"]))
    return table


def worker_table(workers: Sequence[Row], now_ms: int) -> Table:
    table = plain_table("worker", "pid", "state", "busy", "done", "again", "failed", "dead", "beat")
    for row in workers:
        tally, age = row["tally"], max(0, now_ms - row["beat_at"])
        counts = (tally["handled"], tally["redelivered"], tally["failed"])
        table.add_row(
            escape(f"{row['kind']} {row['name']}"),
            str(row["pid"]),
            state_of(row, age),
            str(row["in_flight"]),
            *map(str, counts),
            alarm(tally["dead"]),
            f"{age / 1000:.0f} s",
        )
    return table


def state_of(worker: Row, age_ms: int) -> str:
    if age_ms > SILENT_MS:
        return f"[{ALARM}]silent[/]"
    if worker["outage"]:
        return f"[{ALARM}]waits[/]: {escape(worker['outage'])}"
    return "reading" if worker["ready"] else f"[{ALARM}]not reading[/]"
