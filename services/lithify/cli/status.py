"""`lithify status`: how a running service is, who works for it, and what waits in its queues."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from lithify.cli.console import emit_json
from lithify.cli.service import AsJson, Url, connect
from lithify.client import Memory
from lithify.errors import Invalid, LithifyError
from lithify.settings import load_settings

LEAST_EVERY_S: Final = 0.2
# Workers beat every five seconds; three missed beats are no slow moment any more.
SILENT_MS: Final = 15_000
# Enough to tell the profiles of one installation apart.
SHORT_DIGEST: Final = 12
ALARM: Final = "bold red"

Row = Mapping[str, Any]


def status(
    url: Url = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again and again, until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks of --watch.", min=LEAST_EVERY_S)] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Show health, counts and queues; exits 1 when the service is not ready."""
    if watch and as_json:
        raise Invalid("--watch is for people: leave out --json, or call `lithify status --json` as often as needed")
    screen = Console(highlight=False)
    # One try: that nothing answers is what one wants to see at once.
    with connect(load_settings(url=url), tries=1) as service:
        if watch:
            keep_showing(service, every, screen)
            return
        answer = service.status()
    if as_json:
        emit_json(answer)
    else:
        screen.print(status_page(answer, now_ms()))
    if not answer["ready"]:
        raise typer.Exit(1)


def keep_showing(service: Memory, every: float, screen: Console) -> None:
    """Goes on until interrupted; a service that is away is shown as that, and may come back."""
    with Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as live:
        try:
            while True:
                live.update(look(service), refresh=True)
                time.sleep(every)
        except KeyboardInterrupt:
            return


def look(service: Memory) -> RenderableType:
    try:
        shown = status_page(service.status(), now_ms())
    except LithifyError as error:
        shown = Group(f"[bold red]away[/]: {escape(str(error))}")
    return Group(time.strftime("%H:%M:%S"), shown)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def status_page(answer: Row, now_ms: int) -> Group:
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
        "model": describe_model(answer["embedder"]),
        "profile": describe_profile(answer.get("profile")),
        "store": describe(answer["store"], "engine", "version", "reason"),
        "memories": store.get("memories"),
        "unsearchable": answer["unsearchable"],
        "unfinished": answer["unfinished"],
        "dead letters": format_alarm(answer["dead_letters"]),
    }
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(f"lithify {answer['version']}", "ready" if answer["ready"] else f"[{ALARM}]NOT READY[/]")
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, str(value))
    return table


def describe(part: Row | None, *names: str) -> str | None:
    """Names a part in a line; a gateway by itself has neither model nor store."""
    return None if part is None else escape(", ".join(str(part[name]) for name in names if part[name]))


def describe_model(embedder: Row | None) -> str | None:
    named = describe(embedder, "profile", "mode", "reason")
    if embedder is None or not embedder.get("kept"):
        return named
    return f"{named}; kept, the memories were made with it: `lithify reembed` moves them to the default"


def describe_profile(profile: Row | None) -> str | None:
    return None if profile is None else escape(f"{profile['name']} {profile['digest'][:SHORT_DIGEST]}")


def format_alarm(count: int) -> str:
    return f"[{ALARM}]{count}[/]" if count else "0"


def stream_table(streams: Sequence[Row]) -> Table:
    """Shows ages before counts: a short queue that does not move is worse than a long one that does."""
    table = plain_table("stream", "group", "oldest unread", "oldest pending", "unread", "pending")
    for row in streams:
        ages = (f"{row[name] / 1000:.1f} s" for name in ("oldest_unread_ms", "oldest_pending_ms"))
        table.add_row(row["stream"], row["group"], *ages, str(row["unread"]), str(row["pending"]))
    return table


def worker_table(workers: Sequence[Row], now_ms: int) -> Table:
    table = plain_table("worker", "pid", "state", "busy", "done", "again", "failed", "dead", "beat")
    for row in workers:
        tally = row["tally"]
        age = max(0, now_ms - row["beat_at"])
        counts = (tally["handled"], tally["redelivered"], tally["failed"])
        table.add_row(
            escape(f"{row['kind']} {row['name']}"),
            str(row["pid"]),
            describe_state(row, age),
            str(row["in_flight"]),
            *map(str, counts),
            format_alarm(tally["dead"]),
            f"{age / 1000:.0f} s",
        )
    return table


def describe_state(worker: Row, age_ms: int) -> str:
    if age_ms > SILENT_MS:
        return f"[{ALARM}]silent[/]"
    if worker["outage"]:
        return f"[{ALARM}]waits[/]: {escape(worker['outage'])}"
    return "reading" if worker["ready"] else f"[{ALARM}]not reading[/]"
