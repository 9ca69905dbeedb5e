"""`lithify bench ingest`: accept to searchable through a whole embedded node, against the raw embedder below it."""

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from lithify.batching import batched
from lithify.cli.bench.embed import sample_texts
from lithify.cli.bench.timing import measure_seconds
from lithify.cli.console import data, emit_json
from lithify.cli.service import connect
from lithify.client import Memory, Turn
from lithify.embedding import Embedder, load_configured_embedder
from lithify.node.child import ChildNode, child_node
from lithify.settings import Settings, load_settings

# Rounds alternate between pipeline and embedder, and the ratio is the median of the rounds' own: a busy machine hurts
# both sides alike. The first round of the pipeline warms it and is not counted.
ROUNDS: Final = 5
BATCH: Final = 256
USERS: Final = 8
SESSIONS: Final = 24
# One turn at a time, each after the one before it is searchable: what a lone host sees.
QUIET_TURNS: Final = 50
POLL_S: Final = 0.02
PER_TURNS: Final = 100_000


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Texts per second, the latency of a lone turn, and what 100,000 turns would need at the rate seen here."""

    turns: int
    pipeline: float
    raw: float
    ratio: float
    searchable_p50_ms: float
    searchable_p95_ms: float
    memory_mib_per_100k: float | None
    disk_mib_per_100k: float


def ingest(
    turns: Annotated[int, typer.Option(help="Turns per round.", min=BATCH)] = 1_024,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measurement as JSON.")] = False,
) -> None:
    """Turns per second from accepted to searchable, and the bare embedder on the same texts in the same run."""
    report = bench_ingest(load_settings(), turns)
    if as_json:
        emit_json(asdict(report))
        return
    table = Table("turns", "pipeline/s", "raw/s", "ratio", "alone p50/p95 ms", "MiB RAM / disk per 100k")
    memory = "-" if report.memory_mib_per_100k is None else f"{report.memory_mib_per_100k:.0f}"
    table.add_row(
        str(report.turns),
        f"{report.pipeline:.1f}",
        f"{report.raw:.1f}",
        f"{report.ratio:.3f}",
        f"{report.searchable_p50_ms:.0f} / {report.searchable_p95_ms:.0f}",
        f"{memory} / {report.disk_mib_per_100k:.0f}",
    )
    data.print(table)


def bench_ingest(settings: Settings, turns: int) -> IngestReport:
    embedder = load_configured_embedder(settings)
    texts = sample_texts(turns)
    with (
        tempfile.TemporaryDirectory() as folder,
        child_node(Path(folder) / "node", {}) as node,
        connect(settings.model_copy(update={"url": node.url})) as service,
    ):
        alone = [measure_lone_turn(service, number) for number in range(QUIET_TURNS)]
        send_round(service, 0, texts)
        before = memory_mib(node), disk_mib(node.data_dir)
        pairs = [
            (send_round(service, number, texts), measure_raw(service, embedder, texts))
            for number in range(1, ROUNDS + 1)
        ]
        after = memory_mib(node), disk_mib(node.data_dir)
    share = PER_TURNS / (ROUNDS * turns)
    grown = None if before[0] is None or after[0] is None else share * (after[0] - before[0])
    return IngestReport(
        turns=turns,
        pipeline=turns / statistics.median(ours for ours, _ in pairs),
        raw=turns / statistics.median(raw for _, raw in pairs),
        ratio=statistics.median(raw / ours for ours, raw in pairs),
        searchable_p50_ms=statistics.median(alone),
        searchable_p95_ms=statistics.quantiles(alone, n=20)[-1],
        memory_mib_per_100k=grown,
        disk_mib_per_100k=share * (after[1] - before[1]),
    )


def measure_raw(service: Memory, embedder: Embedder, texts: Sequence[str]) -> float:
    """Waits until the node rests: gating goes on behind what is searchable, and would slow the floor down."""
    while service.status()["unfinished"]:
        time.sleep(POLL_S)
    return measure_seconds(lambda: embedder.embed_documents(texts))


def send_round(service: Memory, number: int, texts: Sequence[str]) -> float:
    """Counts the seconds from the first request until the last turn can be found, by the receipts of all of them."""
    turns = [make_turn(f"round-{number}-{index}", index, text) for index, text in enumerate(texts)]
    started = time.time()
    for batch in batched(turns, BATCH):
        service.ingest_batch(batch)
    return max(wait_until_embedded(service, turn["event_id"]) for turn in turns) / 1000 - started


def measure_lone_turn(service: Memory, number: int) -> float:
    """Counts the milliseconds from accepted to searchable."""
    turn = make_turn(f"alone-{number}", number, f"Note {number}: the parcel came today.")
    service.ingest(wait=True, **turn)
    receipt = service.receipt(turn["event_id"])
    return float((receipt.embedded_at or 0) - receipt.accepted_at)


def make_turn(event_id: str, index: int, text: str) -> Turn:
    return {
        "event_id": event_id,
        "user": f"user-{index % USERS}",
        "session": f"session-{index % SESSIONS}",
        "role": "assistant" if index // SESSIONS % 2 else "user",
        "text": text,
    }


def wait_until_embedded(service: Memory, event_id: str) -> int:
    while True:
        moment = service.receipt(event_id).embedded_at
        if moment is not None:
            return moment
        time.sleep(POLL_S)


def memory_mib(node: ChildNode) -> float | None:
    """Sums the resident memory of the node and its Redis; None where the system does not tell."""
    pids = [node.pid, int((node.data_dir / "redis" / "server.lock").read_text())]
    try:
        status = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
    except OSError:
        return None
    return sum(int(text.partition("VmRSS:")[2].split()[0]) for text in status) / 1024


def disk_mib(folder: Path) -> float:
    # Blocks, not lengths: the engine reserves sparse files that hold nothing yet.
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 2**20
