"""`lithify ingest`: sends a file of turns, safely repeatable because every turn carries its own id."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from lithify.batching import batched
from lithify.cli.console import emit_json, talk
from lithify.cli.progress import StageBars
from lithify.cli.service import PATIENT_TRIES, Url, connect, wait_out_load
from lithify.client import BatchResult, Memory
from lithify.client.call import Call
from lithify.client.results import BatchItem
from lithify.errors import Invalid
from lithify.settings import load_settings

BATCH: Final = 128
POLL_S: Final = 0.5
SHOWN_ERRORS: Final = 20

NumberedTurn = tuple[int, Any]
"""A line's number and what it holds, which may be anything that is JSON."""


@dataclass(slots=True)
class IngestTotals:
    """Counts what became of the lines, and keeps the first reasons of those that were refused."""

    accepted: int = 0
    duplicate: int = 0
    rejected: int = 0
    errors: list[str] = field(default_factory=list)

    def reject(self, line: int, reason: str) -> None:
        self.rejected += 1
        if len(self.errors) < SHOWN_ERRORS:
            self.errors.append(f"line {line}: {reason}")


def ingest(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="One JSON turn per line.")],
    wait: Annotated[bool, typer.Option(help="Return only when the last turn is searchable.")] = False,
    url: Url = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the totals as JSON.")] = False,
) -> None:
    """Send a file of turns; running it again sends nothing twice."""
    lines = sum(1 for _ in file.open("rb"))
    totals = IngestTotals()
    with connect(load_settings(url=url), PATIENT_TRIES) as service, StageBars() as bars:
        with file.open("rb") as source:
            for batch in batched(parse_lines(source, totals), BATCH):
                send_batch(service, batch, totals)
                bars.show("ingest", batch[-1][0], lines)
        bars.show("ingest", lines, lines)
        if wait:
            wait_until_searchable(service)
    report(totals, as_json)


def parse_lines(source: Iterable[bytes], totals: IngestTotals) -> Iterator[NumberedTurn]:
    for number, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            yield number, orjson.loads(line)
        except orjson.JSONDecodeError as error:
            totals.reject(number, f"not JSON ({error})")


def send_batch(service: Memory, batch: list[NumberedTurn], totals: IngestTotals) -> None:
    """Sends turns as they stand in the file: one without an id is refused, for it could not be sent again safely."""
    turns = [turn for _, turn in batch]
    call = Call("POST", "/v1/turns:batch", BatchResult, body={"turns": turns})
    answer = wait_out_load(lambda: service.do(call))
    totals.accepted += answer.accepted
    totals.duplicate += answer.duplicate
    for item in answer.results:
        if item.status in ("invalid", "conflict"):
            totals.reject(batch[item.index][0], explain_rejection(item))


def explain_rejection(item: BatchItem) -> str:
    reasons = "; ".join(f"{error.field}: {error.message}" for error in item.errors or ())
    return reasons or f"event_id {item.event_id!r} was used before with other content"


def wait_until_searchable(service: Memory) -> None:
    while wait_out_load(service.status)["unsearchable"]:
        time.sleep(POLL_S)


def report(totals: IngestTotals, as_json: bool) -> None:
    """Prints the totals. Raises Invalid if a line was refused."""
    counts = {"accepted": totals.accepted, "duplicate": totals.duplicate, "rejected": totals.rejected}
    if as_json:
        emit_json(counts | {"errors": totals.errors})
    else:
        talk.print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if totals.rejected:
        for error in totals.errors:
            talk.print(error, markup=False)
        raise Invalid(f"{totals.rejected} of the lines were refused; everything else was sent")
