"""`lithify status`: how a running service is, who works for it, and what waits in its queues."""

import time
from typing import Annotated, Final

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape

from lithify.cli.api import Api
from lithify.cli.console import emit_json
from lithify.cli.status_views import page
from lithify.errors import Invalid, LithifyError
from lithify.settings import load_settings

LEAST_EVERY_S: Final = 0.2


def status(
    url: Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show it again and again, until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(help="Seconds between two looks of --watch.", min=LEAST_EVERY_S)] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show health, counts and queues; exits 1 when the service is not ready."""
    if watch and as_json:
        raise Invalid("--watch is for people: leave out --json, or call `lithify status --json` as often as needed")
    api, screen = Api(load_settings(url=url)), Console(highlight=False)
    if watch:
        keep_showing(api, every, screen)
        return
    answer = api.call("GET", "/v1/status")
    if as_json:
        emit_json(answer)
    else:
        screen.print(page(answer, now_ms()))
    if not answer["ready"]:
        raise typer.Exit(1)


def keep_showing(api: Api, every: float, screen: Console) -> None:
    """Until interrupted; a service that is away is shown as that, and may come back."""
    with Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as live:
        try:
            while True:
                live.update(look(api), refresh=True)
                time.sleep(every)
        except KeyboardInterrupt:
            return


def look(api: Api) -> RenderableType:
    try:
        shown = page(api.call("GET", "/v1/status"), now_ms())
    except LithifyError as error:
        shown = Group(f"[bold red]away[/]: {escape(str(error))}")
    return Group(time.strftime("%H:%M:%S"), shown)


def now_ms() -> int:
    return time.time_ns() // 1_000_000
