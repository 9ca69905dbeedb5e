"""The loop every worker runs: take messages, have them handled, acknowledge; lose none and repeat few."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import structlog
from redis.asyncio import Redis

from lithify.batching import batched_by_weight
from lithify.errors import Doubtful, Invalid, LithifyError, Misconfigured, Unavailable
from lithify.events import Clock
from lithify.streams import keys
from lithify.streams.connection import end_tasks
from lithify.streams.crash import crash_point
from lithify.streams.dead_row import DeadRow
from lithify.streams.delivery import Delivery, StreamEntry, decode_all, tenant_of
from lithify.streams.lease import RENEWALS_PER_LEASE, Leases
from lithify.streams.member import EntryLost, Member
from lithify.streams.outage import FIRST_MS, LONGEST_MS, GroupMissing, backoff_ms, outages
from lithify.telemetry.metrics import StageMeter
from lithify.telemetry.trace_context import trace_id_of

T = TypeVar("T")

Handler = Callable[[Sequence[Delivery]], Awaitable[None]]
"""Returns when the effect of every delivery is durable; must be idempotent, for a message may come more than once.

Raises Invalid for a message that can never succeed, Unavailable while a dependency is away, Doubtful when it may as
well be the message, anything else to be tried again. Which message of a batch is bad need not be said: after a failure
smaller batches come, and at last each one alone."""

Probe = Callable[[], Awaitable[None]]
"""Asks what the handler depends on for something known to be good; raises Unavailable or Misconfigured if it fails."""

# Characters of an error kept with a dead letter; some libraries put whole requests into theirs.
MAX_REASON: Final = 1_000

log = structlog.get_logger(__name__)


class Refused(LithifyError):
    """A dependency that serves others fails at this message."""


async def _trust() -> None:
    """Takes what a handler depends on for healthy: fits one that never raises Doubtful."""


@dataclass(frozen=True, slots=True)
class ConsumerSettings:
    batch: int = 64
    # Entries of bulk streams taken at once, beside the batch: whoever has little waiting waits for these at most.
    bulk_batch: int = 128
    # What one handler call may hold of raw payload.
    batch_bytes: int = 8 * 2**20
    # Also the longest wait between stop() and the loop seeing it.
    block_ms: int = 1_000
    lease_ms: int = 60_000
    max_attempts: int = 5
    dead_in_a_row: int = 50
    first_pause_ms: int = FIRST_MS
    longest_pause_ms: int = LONGEST_MS


@dataclass(slots=True)
class ConsumerTally:
    """Counts what this consumer has done with messages since its start."""

    handled: int = 0
    redelivered: int = 0
    failed: int = 0
    dead: int = 0
    lost: int = 0


class Consumer:
    """One slot of a consumer group over some streams. Use `run()` once; `stop()` from anywhere in the same loop."""

    def __init__(
        self,
        redis: Redis,
        streams: Sequence[str],
        group: str,
        name: str,
        handler: Handler,
        settings: ConsumerSettings,
        clock: Clock,
        outcomes: Callable[[], Mapping[str, int]] = dict,
        probe: Probe = _trust,
    ) -> None:
        """`outcomes` are the handler's own counts, told with every heartbeat."""
        self.outcomes = outcomes
        self._member = Member(redis, streams, group, name)
        self._leases = Leases(self._member, settings.lease_ms)
        self._meter = StageMeter(group)
        self._handler = self._meter.time_calls(handler)
        self._probe = probe
        self._settings = settings
        self._clock = clock
        self._stopping = asyncio.Event()
        # Held while acknowledging: what is done must not be done again because of a cancellation.
        self._acknowledging = asyncio.Lock()
        self._running = False
        self._dead_row = DeadRow(settings.dead_in_a_row)
        self._mean_bytes = 0
        self._outage: str | None = None
        self.tally = ConsumerTally()
        self.ticked_at = clock()

    @property
    def ready(self) -> bool:
        return self._running and self.outage is None and not self._stopping.is_set()

    @property
    def outage(self) -> str | None:
        """Says in words what keeps this consumer from working; None while nothing does."""
        return self._outage or self._dead_row.trouble

    @property
    def group(self) -> str:
        return self._member.group

    @property
    def name(self) -> str:
        return self._member.name

    @property
    def in_flight(self) -> int:
        """Counts messages read and not yet acknowledged, buried or given up."""
        return len(self._leases)

    def stop(self) -> None:
        """Stops reading; `run()` returns once what is in flight is handled and acknowledged."""
        self._stopping.set()

    async def run(self) -> None:
        """Consumes until stopped.

        Cancelling ends it at once, save that an acknowledgement under way is finished; cancelling twice ends that too.
        """
        work = asyncio.create_task(self._work(), name=f"consumer {self.group}")
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            self.stop()
            with suppress(asyncio.CancelledError):
                await self._acknowledging.acquire()
            await end_tasks([work])
            raise

    async def _work(self) -> None:
        self._running = True
        try:
            async with self._leases:
                await self._consume()
        except Unavailable as error:
            log.warning("consumer_stopped_during_outage", group=self.group, error=str(error))
        finally:
            self._running = False

    async def _consume(self) -> None:
        try:
            await self._insist(self._member.join)
            await self._recover(self._member.own)
            await self._read_until_stopped()
        except Unavailable:
            with suppress(Unavailable, GroupMissing):
                await self._leases.release()
            raise

    async def _read_until_stopped(self) -> None:
        loop = asyncio.get_running_loop()
        next_recovery = loop.time()
        while not self._stopping.is_set():
            self.ticked_at = self._clock()
            if loop.time() >= next_recovery:
                await self._recover(partial(self._member.stale, lease_ms=self._settings.lease_ms))
                next_recovery = loop.time() + self._settings.lease_ms / 1000 / RENEWALS_PER_LEASE
            room = self._room()
            bulk = min(room, self._settings.bulk_batch)
            entries = await self._insist(partial(self._member.read, room, self._settings.block_ms, bulk))
            await self._process(entries)

    def _room(self) -> int:
        """Returns how many entries to ask for.

        Redis bounds a read by count only; the mean size so far bounds the bytes.
        """
        if self._dead_row.trouble:
            return 1
        return max(1, min(self._settings.batch, self._settings.batch_bytes // max(1, self._mean_bytes)))

    async def _recover(self, pending: Callable[[str], Awaitable[list[str]]]) -> None:
        """Delivers pending entries again, one at a time: should one kill the process, only it has burnt an attempt."""
        for stream in self._member.streams:
            for stream_id in await self._insist(partial(pending, stream)):
                if self._stopping.is_set():
                    return
                await self._redeliver(stream, stream_id)

    async def _redeliver(self, stream: str, stream_id: str) -> None:
        try:
            entry = await self._insist(partial(self._member.claim, stream, stream_id, self._settings.lease_ms))
        except EntryLost as error:
            self.tally.lost += 1
            self._meter.lost.inc()
            log.error("entry_lost", stream=stream, stream_id=stream_id, error=str(error))
            return
        if entry is None:
            return
        self.tally.redelivered += 1
        self._meter.redelivered.inc()
        if entry.attempt > self._settings.max_attempts:
            await self._bury(entry, f"never acknowledged in {entry.attempt - 1} attempts; the worker died or hung")
        else:
            await self._process([entry])

    async def _process(self, entries: Sequence[StreamEntry]) -> None:
        if not entries:
            return
        size = sum(entry.size for entry in entries)
        self._mean_bytes = size // len(entries)
        self._leases.hold(entries)
        crash_point("after_read")
        limit = self._settings.batch_bytes
        for lane in filter(None, part_lanes(entries)):
            for batch in batched_by_weight(lane, lambda entry: entry.size, limit) if size > limit else [lane]:
                await self._decode_and_handle(batch)

    async def _decode_and_handle(self, entries: Sequence[StreamEntry]) -> None:
        deliveries, unreadable = decode_all(entries)
        for entry, reason in unreadable:
            await self._bury(entry, reason)
        if deliveries:
            await self._handle(deliveries)

    async def _handle(self, deliveries: Sequence[Delivery]) -> None:
        try:
            await self._insist(partial(self._try_handler, deliveries))
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a handler raises decides the fate of its messages only
            await self._settle_failure(deliveries, error)
        else:
            async with self._acknowledging:
                await self._acknowledge(deliveries)

    async def _try_handler(self, deliveries: Sequence[Delivery]) -> None:
        try:
            await self._handler(deliveries)
        except Doubtful as error:
            # What fails here too is away, and that is nobody's fault.
            await self._probe()
            raise Refused(str(error)) from error

    async def _settle_failure(self, deliveries: Sequence[Delivery], error: Exception) -> None:
        if len(deliveries) > 1:
            # One bad message must not take its neighbours along; by halves it is found in few calls.
            middle = len(deliveries) // 2
            await self._handle(deliveries[:middle])
            await self._handle(deliveries[middle:])
            return
        [delivery] = deliveries
        reason = f"{type(error).__name__}: {error}"
        # The type only: an error's words may quote what a user said.
        log.warning(
            "delivery_failed",
            event_id=delivery.event.event_id,
            trace_id=trace_id_of(delivery.event.traceparent),
            attempt=delivery.attempt,
            error=type(error).__name__,
        )
        if isinstance(error, Invalid) or delivery.attempt >= self._settings.max_attempts:
            await self._bury(delivery.entry, reason)
            return
        self.tally.failed += 1
        self._meter.failed.inc()
        # Pending without a renewed lease: recovered, and counted, when the lease has run out.
        self._leases.drop([delivery.entry])

    async def _acknowledge(self, deliveries: Sequence[Delivery]) -> None:
        crash_point("before_ack")
        by_stream: defaultdict[str, list[str]] = defaultdict(list)
        for delivery in deliveries:
            by_stream[delivery.entry.stream].append(delivery.stream_id)
        for stream, stream_ids in by_stream.items():
            await self._insist(partial(self._member.acknowledge, stream, stream_ids))
        self._leases.drop(delivery.entry for delivery in deliveries)
        self.tally.handled += len(deliveries)
        self._meter.handled.inc(len(deliveries))
        self._dead_row.end()

    async def _bury(self, entry: StreamEntry, reason: str) -> None:
        if trouble := self._dead_row.trouble:
            # Goes on slowly, to see when it is over, and leaves the stream to workers that can.
            await self._wait_out(Unavailable(trouble), self._dead_row.beyond)
        crash_point("dead_letter")
        await self._insist(partial(self._member.bury, entry, reason[:MAX_REASON], self._clock()))
        self._leases.drop([entry])
        log.error("dead_letter", stream=entry.stream, stream_id=entry.stream_id, attempts=entry.attempt)
        self.tally.dead += 1
        self._meter.dead.inc()
        self._dead_row.add(tenant_of(entry))

    async def _insist(self, action: Callable[[], Awaitable[T]]) -> T:
        """Repeats an idempotent step through an outage, which is nobody's fault and burns no attempt.

        A key that is refused is one, too: it was right when the process started. Meanwhile nothing is read and the
        leases are kept. Raises Unavailable only when told to stop.
        """
        failures = 0
        while True:
            try:
                with outages():
                    result = await action()
            except GroupMissing:
                log.warning("group_missing", group=self.group)
                await self._insist(self._member.join)
            except (Unavailable, Misconfigured) as error:
                await self._wait_out(error, failures)
                failures += 1
            else:
                self._outage = None
                return result

    async def _wait_out(self, error: LithifyError, failures: int) -> None:
        self._outage = str(error)
        self.ticked_at = self._clock()
        if self._stopping.is_set():
            raise Unavailable(str(error)) from error
        pause_ms = backoff_ms(failures, self._settings.first_pause_ms, self._settings.longest_pause_ms)
        log.warning("outage", group=self.group, pause_ms=pause_ms, error=str(error))
        with suppress(TimeoutError):
            async with asyncio.timeout(pause_ms / 1000):
                await self._stopping.wait()


def part_lanes(entries: Sequence[StreamEntry]) -> tuple[Sequence[StreamEntry], Sequence[StreamEntry]]:
    """Returns the entries of bulk streams behind all others: the former must not make the latter wait."""
    bulk = [entry for entry in entries if keys.is_bulk(entry.stream)]
    return ([entry for entry in entries if not keys.is_bulk(entry.stream)], bulk) if bulk else (entries, bulk)
