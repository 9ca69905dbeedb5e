"""Every figure as a piece of text under a name: what a page shows at first, and server-sent events that renew it."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lithify.dashboard import wording
from lithify.dashboard.authentication import Viewer
from lithify.dashboard.charts import polyline, round_top
from lithify.errors import Unavailable
from lithify.jobs import QueueState
from lithify.monitoring.figures import Figures, GroupState, StreamState
from lithify.monitoring.overview import Overview, Stage, StageState, overview_of, state_of_group
from lithify.monitoring.pulse import EVERY_S, Pulse, Reading, series
from lithify.streams import Heartbeat

# Then the browser comes again by itself, and is authenticated again: a revoked key does not look on for ever.
LONGEST_S: Final = 300
RETRY_MS: Final = 2_000

Named = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Board:
    """The texts of a page by name.

    `states` colour what `words` say; `points` are the lines of charts; `shape` changes when rows come or go.
    """

    words: dict[str, str]
    states: dict[str, str]
    points: dict[str, str]
    shape: str


def make_board(reading: Reading) -> Board:
    overview = overview_of(reading)
    figures = reading.figures
    words = dict(_words(overview, figures))
    points, top = chart_of(reading)
    words["chart.top"] = wording.rate(top)
    return Board(words, dict(_states(overview, figures)), points, shape_of(words))


def chart_of(reading: Reading) -> tuple[dict[str, str], float]:
    rates = series(reading.history)
    accepted = [rate.accepted or 0.0 for rate in rates]
    searchable = [rate.searchable or 0.0 for rate in rates]
    top = round_top([*accepted, *searchable])
    return {"accepted": polyline(accepted, top), "searchable": polyline(searchable, top)}, top


def shape_of(names: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16]


def group_name(stream: StreamState, group: GroupState) -> str:
    return f"group.{stream.stream}.{group.group}"


def worker_name(worker: Heartbeat) -> str:
    return f"worker.{worker.kind}.{worker.name}"


def worker_state(worker: Heartbeat) -> StageState:
    return StageState.CLEAR if worker.ready else StageState.STUCK


def _words(overview: Overview, figures: Figures) -> Named:
    yield "throughput.accepted", wording.rate(overview.throughput.accepted)
    yield "throughput.searchable", wording.rate(overview.throughput.searchable)
    yield "lateness.p50", wording.age(overview.accept_to_searchable.p50_ms)
    yield "lateness.p95", wording.age(overview.accept_to_searchable.p95_ms)
    yield "dead.oldest", wording.age(overview.dead_letters.oldest_ms)
    yield "dead.count", wording.number(overview.dead_letters.count)
    yield "workers.beat", wording.age(overview.workers.last_beat_ms)
    yield "workers.alive", wording.number(overview.workers.alive)
    yield "workers.ready", wording.number(overview.workers.ready)
    for stage in overview.stages:
        yield from _waiting(f"stage.{stage.group}", stage, stage.state)
    for stream in figures.streams:
        yield f"stream.{stream.stream}.added", wording.number(stream.added)
        yield f"stream.{stream.stream}.length", wording.number(stream.length)
        for group in stream.groups:
            yield from _waiting(group_name(stream, group), group, state_of_group(group))
            yield f"{group_name(stream, group)}.consumers", wording.number(len(group.consumers))
    for worker in figures.workers:
        yield from _worker(worker, figures.at)
    for queue in overview.queues:
        yield from _queue(queue)


def _waiting(name: str, waiting: Stage | GroupState, state: StageState) -> Named:
    yield f"{name}.state", f"{wording.mark(state)} {state}"
    yield f"{name}.oldest_unread", wording.age(waiting.oldest_unread_ms if waiting.unread else None)
    yield f"{name}.oldest_pending", wording.age(waiting.oldest_pending_ms if waiting.pending else None)
    yield f"{name}.unread", wording.number(waiting.unread)
    yield f"{name}.pending", wording.number(waiting.pending)


def _worker(worker: Heartbeat, now_ms: int) -> Named:
    name = worker_name(worker)
    yield f"{name}.state", "● reading" if worker.ready else f"■ {worker.outage or 'not reading'}"
    yield f"{name}.beat", wording.age(max(0, now_ms - worker.beat_at))
    yield f"{name}.tick", wording.age(max(0, now_ms - worker.ticked_at))
    yield f"{name}.in_flight", wording.number(worker.in_flight)
    for count in ("handled", "redelivered", "failed", "dead"):
        yield f"{name}.{count}", wording.number(getattr(worker.tally, count))


def _queue(queue: QueueState) -> Named:
    yield f"queue.{queue.queue}.oldest", wording.age(queue.oldest_age_ms)
    for count in ("queued", "started", "scheduled", "failed"):
        yield f"queue.{queue.queue}.{count}", wording.number(getattr(queue, count))


def _states(overview: Overview, figures: Figures) -> Named:
    for stage in overview.stages:
        yield f"stage.{stage.group}", stage.state
    for stream in figures.streams:
        for group in stream.groups:
            yield group_name(stream, group), state_of_group(group)
    for worker in figures.workers:
        yield worker_name(worker), worker_state(worker)
    yield "dead", StageState.BEHIND if overview.dead_letters.count else StageState.CLEAR
    yield "workers", StageState.CLEAR if overview.workers.ready == overview.workers.alive else StageState.STUCK


@dataclass(frozen=True, slots=True)
class LiveFigures:
    """Streams the figures to one open page after another."""

    pulse: Pulse

    async def stream(self, request: Request, viewer: Viewer) -> Response:
        viewer.require_operator()
        # Set by whoever serves the application, once it is to stop: an open stream must not hold that up.
        stopping: asyncio.Event = getattr(request.app.state, "stopping", None) or asyncio.Event()
        return StreamingResponse(self.events(stopping), media_type="text/event-stream")

    async def events(self, stopping: asyncio.Event) -> AsyncIterator[bytes]:
        """Yields the first at once, then one a second, until the server stops or the viewer is to be checked again."""
        end = time.monotonic() + LONGEST_S
        yield b"retry: %d\n\n" % RETRY_MS
        while not stopping.is_set() and time.monotonic() < end:
            yield await self._event()
            await pause(stopping)

    async def _event(self) -> bytes:
        try:
            return b"data: " + orjson.dumps(asdict(make_board(await self.pulse.read()))) + b"\n\n"
        except Unavailable as error:
            return b"event: trouble\ndata: " + orjson.dumps(str(error)) + b"\n\n"


async def pause(stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(EVERY_S):
            await stopping.wait()
    except TimeoutError:
        return
