"""The kinds of workers as a table: a new worker is a package and a row here."""

import socket
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

from lithify.archiver.worker import archive_consumer, open_archive_worker, slot_name
from lithify.compactor.triggers import CompactionTrigger
from lithify.embedder.worker import EmbeddingWorker
from lithify.events import system_clock
from lithify.forgetter.segments import Seal
from lithify.gatekeeper.turn_gate import TurnGate, foreign_config, gate_config
from lithify.gatekeeper.worker import GateWorker
from lithify.gatekeeper.worth_file import find_worth
from lithify.memory.gating.gate_profile import GateProfile
from lithify.node.parts import Model, ProcessParts
from lithify.settings import Settings
from lithify.store.memory_record import COLLECTION
from lithify.store.writability import check_writable
from lithify.streams import Consumer, ConsumerSettings, Handler, keys, open_consumer
from lithify.streams.groups import ARCHIVE, COMPACT, EMBED, GATE

# The first slot of a process is soon back for those who have little waiting; the others work off what is piled up.
FIRST_BULK: Final = 32
# Searching is quick and shares the engine with whoever waits for an answer: small batches let those in between.
GATE_BATCH: Final = 64
# Only counts; the more at once, the fewer round trips.
TRIGGER_BATCH: Final = 512


@dataclass(frozen=True, slots=True)
class OpenedWorker:
    """The consumers of a worker, what runs beside them, and the way to close the archive's segment that is written."""

    consumers: list[Consumer]
    background: list[Coroutine[Any, Any, None]] = field(default_factory=list)
    seal: Seal | None = None


OpenWorker = Callable[[ProcessParts, AsyncExitStack], Awaitable[OpenedWorker]]


@dataclass(frozen=True, slots=True)
class WorkerKind:
    """Says what there is to know about a kind of worker: its group, the streams of a partition it reads, how it opens.

    `is_wanted` says whether an installation with these settings has it: its streams then keep what it has not read.
    One without a `title` is no process of its own; it runs beside the jobs it asks for.
    """

    group: str
    lanes: Callable[[int], Sequence[str]]
    open: OpenWorker
    title: str | None
    needs_model: bool = True
    is_wanted: Callable[[Settings], bool] = lambda _settings: True

    def streams(self, settings: Settings) -> list[str]:
        return [stream for partition in range(settings.partitions) for stream in self.lanes(partition)]


def stream_readers(settings: Settings) -> dict[str, frozenset[str]]:
    """Returns, by stream, the groups through which every event must have gone before its entry may go."""
    readers: defaultdict[str, set[str]] = defaultdict(set)
    for kind in wanted_kinds(settings):
        for stream in kind.streams(settings):
            readers[stream].add(kind.group)
    return {stream: frozenset(groups) for stream, groups in readers.items()}


def wanted_kinds(settings: Settings) -> list[WorkerKind]:
    return [kind for kind in KINDS.values() if kind.is_wanted(settings)]


async def open_embedding(parts: ProcessParts, stack: AsyncExitStack) -> OpenedWorker:
    model = parts.model

    def open_slot(slot: int) -> Consumer:
        # One worker a slot: each tells its own counts.
        worker = EmbeddingWorker(
            store=parts.store,
            embedder=model.embedder,
            analyser=model.analyser,
            redis=parts.redis.client,
            executor=model.executor,
            clock=system_clock,
        )
        limits = consumer_limits(parts.settings)
        if slot == 0:
            limits = replace(limits, bulk_batch=FIRST_BULK)
        outcomes = worker.lateness.outcomes
        return open_group(
            KINDS[EMBED], parts, stack, handler=worker.handle, limits=limits, slot=slot, outcomes=outcomes
        )

    return OpenedWorker([open_slot(slot) for slot in range(parts.settings.embed_slots)])


async def open_gating(parts: ProcessParts, stack: AsyncExitStack) -> OpenedWorker:
    family = parts.model.embedder.manifest.family
    gate = open_turn_gate(parts.settings, parts.model, parts.profile.gate)
    # Profile `seed` finds guidance in compaction alone, by the detector of its sources.
    keeps = parts.settings.guidance == "on" and parts.profile.compaction.guidance == "standing"
    worker = GateWorker(parts.store, parts.redis.client, family, gate, system_clock, keeps_instructions=keeps)
    limits = replace(consumer_limits(parts.settings), batch=GATE_BATCH)

    def outcomes() -> dict[str, int]:
        return asdict(worker.tally)

    consumer = open_group(KINDS[GATE], parts, stack, handler=worker.handle, limits=limits, outcomes=outcomes)
    return OpenedWorker([consumer])


def open_turn_gate(settings: Settings, model: Model, profile: GateProfile) -> TurnGate:
    """Takes learned evidence of this model only; where nothing was learned for it, the patterns decide."""
    folder = settings.models_dir / settings.embedding_profile
    worth = find_worth(folder, model.embedder.manifest.family) if profile.evidence == "learned" else None
    admission = settings.durable_admission
    config = replace(gate_config(profile, worth), durable_admission=admission)
    foreign = foreign_config(profile)
    others = None if foreign is None else replace(foreign, durable_admission=admission)
    background = model.embedder.manifest.background.documents
    return TurnGate(config, profile.merge, model.analyser, worth, background, others)


async def open_archiving(parts: ProcessParts, stack: AsyncExitStack) -> OpenedWorker:
    settings = parts.settings
    name = slot_name(settings.worker_name)
    limits = consumer_limits(settings)
    worker = await stack.enter_async_context(open_archive_worker(settings.archive_folder, name, system_clock))
    client = open_consumer(parts.redis.url, limits.block_ms)
    stack.push_async_callback(client.aclose)
    consumer = archive_consumer(
        worker, client, partitions=settings.partitions, name=name, limits=limits, clock=system_clock
    )
    return OpenedWorker([consumer], [worker.keep_sealed()], worker.seal)


async def open_compaction_trigger(parts: ProcessParts, stack: AsyncExitStack) -> OpenedWorker:
    settings = parts.settings
    trigger = CompactionTrigger(
        redis=parts.redis.client,
        jobs=parts.redis.jobs,
        partitions=settings.partitions,
        tokens=settings.compact_tokens,
        idle=settings.compact_idle_minutes > 0,
        clock=system_clock,
    )
    limits = replace(consumer_limits(settings), batch=TRIGGER_BATCH)
    return OpenedWorker([open_group(KINDS[COMPACT], parts, stack, handler=trigger.handle, limits=limits)])


def compacts_by_itself(settings: Settings) -> bool:
    return settings.compact_tokens > 0 or settings.compact_idle_minutes > 0


def open_group(
    kind: WorkerKind,
    parts: ProcessParts,
    stack: AsyncExitStack,
    *,
    handler: Handler,
    limits: ConsumerSettings,
    slot: int = 0,
    outcomes: Callable[[], Mapping[str, int]] = dict,
) -> Consumer:
    """Opens a consumer of this kind's group with a connection of its own.

    All that a handler doubts is the store: one that can write takes the blame off itself.
    """
    client = open_consumer(parts.redis.url, limits.block_ms)
    stack.push_async_callback(client.aclose)
    # Stable across restarts, so that each slot finds its own pending messages again.
    name = f"{parts.settings.worker_name or socket.gethostname()}-{slot}"
    return Consumer(
        redis=client,
        streams=kind.streams(parts.settings),
        group=kind.group,
        name=name,
        handler=handler,
        settings=limits,
        clock=system_clock,
        outcomes=outcomes,
        probe=partial(check_writable, parts.store, COLLECTION),
    )


def consumer_limits(settings: Settings) -> ConsumerSettings:
    return ConsumerSettings(
        batch=settings.embed_batch_turns, lease_ms=settings.lease_ms, max_attempts=settings.max_attempts
    )


def stored_lane(partition: int) -> tuple[str]:
    return (keys.stored(partition),)


KINDS: Final = {
    kind.group: kind
    for kind in (
        WorkerKind(EMBED, keys.turn_lanes, open_embedding, "embedding worker"),
        WorkerKind(GATE, stored_lane, open_gating, "gating worker"),
        WorkerKind(
            ARCHIVE,
            keys.turn_lanes,
            open_archiving,
            "archive worker",
            needs_model=False,
            is_wanted=lambda settings: settings.archive,
        ),
        WorkerKind(COMPACT, stored_lane, open_compaction_trigger, None, is_wanted=compacts_by_itself),
    )
}
"""Every kind by the name of its consumer group, which is also what `lithify worker` calls it."""

OWN_PROCESSES: Final = tuple(name for name, kind in KINDS.items() if kind.title is not None)
"""The kinds that `lithify worker` can run."""
