"""`lithify bench fairness`: how long the turns of a quiet tenant take to be searchable while another one floods."""

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from lithify.access import ApiKeyRequest
from lithify.batching import batched
from lithify.cli.bench.embed import sample_texts
from lithify.cli.bench.ingest import wait_until_embedded
from lithify.cli.console import data, emit_json
from lithify.cli.keys import choose_admin
from lithify.cli.service import connect, wait_out_load
from lithify.client import Memory, Turn
from lithify.events.scope import DEFAULT_TENANT
from lithify.node.child import ChildNode, child_node
from lithify.settings import Settings, load_settings

QUIET: Final = "quiet"
LOUD: Final = "loud"
BATCH: Final = 256
QUIET_SESSIONS: Final = 8
LOUD_SESSIONS: Final = 128
# The first turns of a process meet a cold model.
WARM_UP: Final = 5
# The flood is on its way once this much of it waits.
AHEAD: Final = 2_048


@dataclass(frozen=True, slots=True)
class Waiting:
    """Milliseconds from accepted to searchable."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class FairnessReport:
    """`ratio` is the p95 beside the flood over that without; `waiting` is what of the flood was left at the end."""

    turns: int
    alone: Waiting
    flooded: Waiting
    ratio: float
    waiting: int


def fairness(
    turns: Annotated[int, typer.Option(help="Turns of the quiet tenant, one a second, in each part.", min=20)] = 60,
    flood: Annotated[int, typer.Option(help="Turns the other tenant sends at once.", min=AHEAD)] = 20_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")] = False,
) -> None:
    """Accept to searchable of a tenant that sends a turn a second, alone and beside one that sends all it can."""
    report = bench_fairness(load_settings(), turns, flood)
    if as_json:
        emit_json(asdict(report))
        return
    table = Table("quiet turns", "alone p50/p95 ms", "flooded p50/p95 ms", "ratio", "loud waiting")
    table.add_row(
        str(report.turns),
        f"{report.alone.p50:.0f} / {report.alone.p95:.0f}",
        f"{report.flooded.p50:.0f} / {report.flooded.p95:.0f}",
        f"{report.ratio:.1f}",
        f"{report.waiting:,}",
    )
    data.print(table)


def bench_fairness(settings: Settings, turns: int, flood: int) -> FairnessReport:
    with (
        tempfile.TemporaryDirectory() as folder,
        child_node(Path(folder) / "node", {}) as node,
        open_tenant(settings, node, DEFAULT_TENANT) as operator,
        open_tenant(settings, node, QUIET) as quiet,
        open_tenant(settings, node, LOUD) as loud,
    ):
        send_quietly(quiet, "warm", WARM_UP, pause_s=0)
        alone = send_quietly(quiet, "alone", turns)
        with flooding(loud, flood, operator):
            flooded = send_quietly(quiet, "flooded", turns)
            left = count_waiting(operator)
    return FairnessReport(
        turns=turns,
        alone=alone,
        flooded=flooded,
        ratio=flooded.p95 / alone.p95,
        waiting=left,
    )


@contextmanager
def open_tenant(settings: Settings, node: ChildNode, tenant: str) -> Iterator[Memory]:
    admin = choose_admin(settings.model_copy(update={"data_dir": node.data_dir, "api_key": None}), by_service=False)
    made = admin.create(ApiKeyRequest(tenant=tenant, name="bench", scopes=frozenset({"admin"})))
    theirs = settings.model_dump() | {"url": node.url, "api_key": made["key"]}
    with connect(Settings(**theirs)) as service:
        yield service


def send_quietly(service: Memory, name: str, turns: int, pause_s: float = 1.0) -> Waiting:
    """Sends one turn after the other and returns how long each took, by the receipts of all of them."""
    names = [f"{name}-{number}" for number in range(turns)]
    for number, event_id in enumerate(names):
        service.ingest(**make_turn(event_id, f"q-{number % QUIET_SESSIONS}", f"Note {number}: the parcel came today."))
        time.sleep(pause_s)
    waited = [wait_until_embedded(service, name) - service.receipt(name).accepted_at for name in names]
    return Waiting(statistics.median(waited), statistics.quantiles(waited, n=20)[-1])


@contextmanager
def flooding(service: Memory, turns: int, operator: Memory) -> Iterator[None]:
    """Keeps another thread sending as fast as the node takes it; the block begins once enough of that waits."""
    stop = threading.Event()
    sender = threading.Thread(target=flood_node, args=(service, turns, stop.is_set), name="flood")
    sender.start()
    try:
        while sender.is_alive() and count_waiting(operator) < AHEAD:
            time.sleep(0.05)
        yield
    finally:
        stop.set()
        sender.join()


def flood_node(service: Memory, turns: int, is_over: Callable[[], bool]) -> None:
    texts = sample_texts(turns)
    made = (make_turn(f"loud-{number}", f"l-{number % LOUD_SESSIONS}", text) for number, text in enumerate(texts))
    for batch in batched(list(made), BATCH):
        if is_over():
            return
        wait_out_load(lambda batch=batch: service.ingest_batch(batch))  # type: ignore[misc]  # a default binds it


def make_turn(event_id: str, session: str, text: str) -> Turn:
    return {"event_id": event_id, "user": "user", "session": session, "role": "user", "text": text}


def count_waiting(operator: Memory) -> int:
    """Counts what is accepted and cannot be found yet; only the operator is told of all tenants."""
    return int(operator.status()["unsearchable"])
