"""`lithify ingest`: sends a file of turns, safely repeatable because every turn carries its own id."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lithify.batching import batched
from lithify.cli.api import Api
from lithify.cli.console import emit_json, talk
from lithify.errors import Invalid, Overloaded, Unavailable
from lithify.settings import load_settings

BATCH = 128
# A node that restarts is back within seconds; longer outages are for the operator to look at.
PATIENCE_SECONDS = 120
PAUSE_SECONDS = 0.5
SHOWN_ERRORS = 20


@dataclass(slots=True)
class Tally:
    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0
    errors: list[str] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        self.rejected += 1
        if len(self.errors) < SHOWN_ERRORS:
            self.errors.append(f"line {line}: {reason}")


Numbered = tuple[int, Any]


def ingest(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One JSON turn per line.")],
    wait: Annotated[bool, typer.Option(help="Return only when the last turn is searchable.")] = False,
    url: Annotated[str | None, typer.Option(help="Service to talk to (LITHIFY_URL).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the totals as JSON.")] = False,
) -> None:
    """Send a file of turns; running it again sends nothing twice."""
    api = Api(load_settings(url=url))
    lines = sum(1 for _ in file.open("rb"))
    tally = Tally()
    with _progress() as bar:
        task = bar.add_task("ingest", total=lines)
        with file.open("rb") as source:
            for batch in batched(parsed(source, tally), BATCH):
                send(api, batch, tally)
                bar.update(task, completed=batch[-1][0])
        bar.update(task, completed=lines)
        if wait:
            wait_until_searchable(api)
    report(tally, as_json)


def parsed(source: Iterable[bytes], tally: Tally) -> Iterator[Numbered]:
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            tally.reject(number, f"not JSON ({error})")


def send(api: Api, batch: list[Numbered], tally: Tally) -> None:
    turns = [turn for _, turn in batch]
    answer = patiently(lambda: api.call("POST", "/v1/turns:batch", {"turns": turns}))
    tally.accepted += answer["accepted"]
    tally.duplicate += answer["duplicate"]
    for result in answer["results"]:
        if result["status"] in ("invalid", "conflict"):
            tally.reject(batch[result["index"]][0], reason_of(result))


def reason_of(result: dict[str, Any]) -> str:
    errors = result.get("errors") or []
    told = "; ".join(f"{e['field']}: {e['message']}" for e in errors)
    return told or f"event_id {result['event_id']!r} was used before with other content"


def patiently(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Asks again after an outage, with the same ids, so nothing is stored twice; being asked to wait is no outage."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            answer = ask()
        except Overloaded as busy:
            time.sleep(busy.retry_after_s)
            deadline = time.monotonic() + PATIENCE_SECONDS
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return answer


def wait_until_searchable(api: Api) -> None:
    while patiently(lambda: api.call("GET", "/v1/status"))["unsearchable"]:
        time.sleep(PAUSE_SECONDS)


def report(tally: Tally, as_json: bool) -> None:
    totals = {"accepted": tally.accepted, "duplicate": tally.duplicate, "rejected": tally.rejected}
    if as_json:
        emit_json(totals | {"errors": tally.errors})
    else:
        talk.print(", ".join(f"{count} {name}" for name, count in totals.items()))
    if tally.rejected:
        for error in tally.errors:
            talk.print(error, markup=False)
        raise Invalid(f"{tally.rejected} of the lines were refused; everything else was sent")


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=talk, disable=not talk.is_terminal)
