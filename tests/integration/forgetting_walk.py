"""A random walk over everything that moves words about while users are forgotten, and a plain model to compare with.

The forgetting is the real job, halted before each place; the rebuild is the real one, halted whenever it waits for the
archive; workers may sleep between taking an event and writing it, and may wake up long after another has done it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from lithify.archive import Findings, read_archive
from lithify.embedder.backfill import BackfillParts, Repairs, write_repairs
from lithify.errors import Unavailable
from lithify.events import EVERY_TENANT, Event, system_clock
from lithify.forgetter.job import Forgetter
from lithify.forgetter.place import ForgettingRun, Place
from lithify.forgetting import wait_past
from lithify.node.parts import Model
from lithify.node.rebuild import PREFIX, Rebuild
from lithify.store import Record
from lithify.store.where import EVERY_RECORD
from lithify.streams import DeadLetters, Delivery, Producer, keys
from tests.integration.rebuild_parts import quiet
from tests.unit.forgetter.forgetting_parts import PARTITIONS, World, of_user, spoken

USERS: Final = ("u1", "u2")
SESSIONS: Final = ("s1", "s2", "s3")
IDS: Final = 4
# Long enough to be stored in pieces.
PADDING: Final = "We walked along the harbour and talked about the weather. " * 60


@dataclass
class Life:
    """One acceptance of an event. Each has words of its own, so that its traces are told from those of the others."""

    event: Event
    words: str
    accepted: int
    is_forgotten: bool = False

    def __str__(self) -> str:
        return f"{self.event.event_id} ({self.words}, accepted {self.accepted}, forgotten {self.is_forgotten})"


@dataclass
class Turnstile:
    """Halts what runs through it until it is let on, once for each time."""

    passes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def halt(self) -> None:
        await self.passes.acquire()

    def let_on(self, times: int = 1) -> None:
        for _ in range(times):
            self.passes.release()


@dataclass
class HaltingPlace:
    place: Place
    turnstile: Turnstile

    @property
    def name(self) -> str:
        return self.place.name

    async def clear(self, run: ForgettingRun) -> int:
        await self.turnstile.halt()
        return await self.place.clear(run)

    async def count_left(self, run: ForgettingRun) -> int:
        return await self.place.count_left(run)


@dataclass(frozen=True)
class HaltingForgetter(Forgetter):
    turnstile: Turnstile = field(default_factory=Turnstile)

    def places(self) -> Sequence[Place]:
        return [HaltingPlace(place, self.turnstile) for place in super().places()]


@dataclass
class Forgetting:
    """A request that stands until the job has done it, however often it is tried."""

    user: str
    before: int
    turnstile: Turnstile
    task: asyncio.Task[Any]


@dataclass
class Walk:
    world: World
    dice: random.Random
    steps: list[str] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    held: list[Delivery] = field(default_factory=list)
    asleep: list[Delivery] = field(default_factory=list)
    pages: list[Record] = field(default_factory=list)
    forgetting: Forgetting | None = None
    rebuild: asyncio.Task[Any] | None = None
    rebuild_stile: Turnstile = field(default_factory=Turnstile)

    async def run(self, steps: int) -> None:
        actions: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (6, self.accept),
            (3, self.archive),
            (3, self.take),
            (3, self.finish),
            (2, self.wake_late),
            (2, self.bury),
            (3, self.redrive),
            (2, self.read_page),
            (2, self.write_page),
            (3, self.forget),
            (6, self.go_on_forgetting),
            (1, self.begin_rebuild),
            (2, self.go_on_rebuilding),
        ]
        weights = [weight for weight, _ in actions]
        for _ in range(steps):
            [(_, action)] = self.dice.choices(actions, weights)
            self.steps.append(action.__name__)
            await action()
        await self.settle()

    # What hosts do.

    async def accept(self) -> None:
        """Sends one of few ids, mostly again; it is accepted only if its receipt is gone."""
        user = self.dice.choice(USERS)
        words = f"words-{len(self.lives)}-{self.dice.randrange(10**9)}"
        event = spoken(
            f"{user}-e{self.dice.randrange(IDS)}",
            user,
            self.dice.choice(SESSIONS),
            text=f"{PADDING if self.dice.random() < 0.1 else ''}{words}",
            role="tool" if self.dice.random() < 0.1 else "user",
        )
        [given] = await Producer(self.world.redis, PARTITIONS, system_clock).accept([(event, words)])
        if given.status == "accepted":
            self.lives.append(Life(event, words, int(given.stream_id.partition("-")[0])))

    async def forget(self) -> None:
        if self.forgetting is not None:
            return
        user = self.dice.choice(USERS)
        before = await self.world.now()
        await wait_past(self.world.redis, before)
        for life in self.lives:
            life.is_forgotten |= life.event.user == user and life.accepted <= before
        self.forgetting = self._attempt(user, before)

    # What operators do.

    async def redrive(self) -> None:
        letters = DeadLetters(self.world.redis, PARTITIONS, system_clock)
        await letters.redrive(EVERY_TENANT, await letters.ids(EVERY_TENANT))

    async def begin_rebuild(self) -> None:
        if self.rebuild is not None:
            return
        await self.world.seal()
        self.rebuild_stile = Turnstile()
        self.rebuild = asyncio.create_task(self._rebuild().run())
        await asyncio.sleep(0)

    async def go_on_rebuilding(self) -> None:
        if self.rebuild is None:
            return
        self.rebuild_stile.let_on()
        await asyncio.wait([self.rebuild], timeout=0.05)
        if self.rebuild.done():
            await self._end_rebuild()

    # What workers do.

    async def archive(self) -> None:
        await self.world._consumed("archive", self.world.archived)

    async def take(self) -> None:
        self.held += await self.world.taken("embed")

    async def finish(self) -> None:
        held, self.held = self.held, []
        if held:
            await self.world.embedding().handle(held)
            self.asleep += held
        await self._acknowledge(held)

    async def wake_late(self) -> None:
        """A worker whose events another one has finished long ago does not know that."""
        if self.asleep:
            await self.world.embedding().handle([self.dice.choice(self.asleep)])

    async def bury(self) -> None:
        member = self.world.member("embed")
        held, self.held = self.held, []
        for delivery in held:
            await member.bury(delivery.entry, "cannot be digested", 1)

    async def read_page(self) -> None:
        self.pages = await self.world.records(kind="turn")

    async def write_page(self) -> None:
        """The second half of a backfill, which read its page some time ago."""
        parts = BackfillParts(self.world.store, self.world.embedder, self.world.redis, PARTITIONS, system_clock)
        pages, self.pages = self.pages, []
        await write_repairs(parts, Repairs(cleared=[turn.id for turn in pages], embedded=pages))

    # How the long ones go on.

    async def go_on_forgetting(self) -> None:
        under_way = self.forgetting
        if under_way is None:
            return
        under_way.turnstile.let_on()
        await asyncio.wait([under_way.task], timeout=0.02)
        if under_way.task.done():
            await self._end_attempt(under_way)

    async def _end_attempt(self, under_way: Forgetting) -> None:
        try:
            receipt = await under_way.task
        except Unavailable:
            # As the queue does: the same request, some time later.
            self.forgetting = self._attempt(under_way.user, under_way.before)
            return
        assert receipt["verified"] is True
        self.forgetting = None
        await self.check_forgotten(under_way)

    def _attempt(self, user: str, before: int) -> Forgetting:
        turnstile = Turnstile()
        parts = self.world.parts()
        given = {item.name: getattr(parts, item.name) for item in fields(parts)}
        halting = HaltingForgetter(**given, turnstile=turnstile)
        running = replace(self.world)
        running.parts = lambda: halting  # type: ignore[method-assign]  # the job's parts, halting
        return Forgetting(user, before, turnstile, asyncio.create_task(running.forget(of_user(user), before)))

    def _rebuild(self) -> Rebuild:
        async def catch_up() -> None:
            await self.rebuild_stile.halt()
            await self.archive()
            await self.world.seal()

        world = self.world
        model = Model(world.embedder, world.analyser, world.executor)
        return Rebuild(
            world.store, model, world.archive, 8, carry=True, caught_up=catch_up, progress=quiet, clock=system_clock
        )

    async def _end_rebuild(self) -> None:
        assert self.rebuild is not None
        with suppress(Unavailable):
            await self.rebuild
        self.rebuild = None

    async def _acknowledge(self, deliveries: list[Delivery]) -> None:
        member = self.world.member("embed")
        for delivery in deliveries:
            await member.acknowledge(delivery.entry.stream, [delivery.stream_id])

    # What must hold.

    async def settle(self) -> None:
        """Lets everything come to its end; then all that was accepted is where it belongs, and nothing else is."""
        while self.rebuild is not None:
            await self.go_on_rebuilding()
        await self.finish()
        while self.forgetting is not None:
            await self.go_on_forgetting()
        await self.redrive()
        await self.archive()
        await self.take()
        await self.finish()
        await self.check_living()
        for spec in await self.world.store.collections():
            if spec.name.startswith(PREFIX):
                await self.world.store.drop(spec.name)

    async def check_forgotten(self, done: Forgetting) -> None:
        """Right after the receipt, whatever else is under way: nothing the user said up to then is anywhere."""
        gone = [life for life in self.lives if life.event.user == done.user and life.accepted <= done.before]
        places = await self.all_words()
        for life in gone:
            found = [name for name, text in places.items() if life.words in text]
            assert not found, f"{life} is still in {found} after {self.steps}"

    async def check_living(self) -> None:
        newest = {life.event.event_id: life for life in self.lives}
        turns = {turn.payload["event_id"]: turn.payload["text"] for turn in await self.world.records(kind="turn")}
        archived = {one.event.text for one in read_archive(self.world.archive, Findings())}
        for life in (life for life in newest.values() if not life.is_forgotten):
            assert life.event.text in archived, f"{life} is not in the archive after {self.steps}"
            has_receipt = await self.world.redis.exists(keys.receipt("acme", life.event.event_id))
            assert has_receipt, f"{life} has no receipt after {self.steps}"
            if life.event.role == "user":
                assert turns.get(life.event.event_id) == life.event.text, (
                    f"{life} is not in the store after {self.steps}"
                )
        places = await self.all_words()
        for life in (life for life in self.lives if life.is_forgotten):
            found = [name for name, text in places.items() if life.words in text]
            assert not found, f"{life} is still in {found} after {self.steps}"

    async def all_words(self) -> dict[str, str]:
        """Everything that is written anywhere, by its place."""
        places = {name: value.decode(errors="replace") for name, value in (await self.world.in_redis()).items()}
        places["archive"] = " ".join(one.event.text for one in read_archive(self.world.archive, Findings()))
        for spec in await self.world.store.collections():
            page = await self.world.store.scroll(EVERY_TENANT, spec.name, EVERY_RECORD, limit=10_000)
            places[spec.name] = " ".join(str(record.payload.get("text")) for record in page.records)
        return places
