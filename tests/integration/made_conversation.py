"""A conversation of 400 turns made from templates: twenty subjects with a planted fact each, and two rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from lithify.compaction import SessionKey
from lithify.events import Event

KEY: Final = SessionKey("acme", "ada", "planning")
SEED: Final = 20
EXCHANGES: Final = 10
MINUTE_MS: Final = 60_000

ASKS: Final = (
    "What do you think about the {thing} for the {subject}?",
    "{person} called about the {subject}, the {thing} will be late.",
    "I looked at the {thing} again, the {subject} needs a better one.",
    "How much would a new {thing} for the {subject} cost?",
    "We changed the {thing} of the {subject} last week, and {person} was happy.",
    "Could the {thing} wait until the rest of the {subject} is settled?",
)
ANSWERS: Final = (
    "The {thing} is usually the hardest part of the {subject}, so give it time.",
    "For the {subject} I would compare two offers for the {thing} first.",
    "If {person} agrees, the {thing} of the {subject} can be changed later.",
    "A simple {thing} is enough for most of the {subject}.",
    "Good, then the {thing} is done and the {subject} can go on.",
)
PEOPLE: Final = ("Marta", "Jonas", "Priya", "Tom", "Elif", "Noor")


@dataclass(frozen=True, slots=True)
class Subject:
    """`fact` is said once, in the middle; `question` asks for it."""

    name: str
    things: str
    fact: str
    question: str


SUBJECTS: Final = tuple(
    Subject(*line.split("\t")) for line in Path(__file__).with_name("made_subjects.tsv").read_text("utf-8").splitlines()
)
RULES: Final = ("Always answer me in metric units.", "Never use slang in your answers.")


@dataclass(frozen=True, slots=True)
class Planted:
    event_id: str
    text: str
    question: str


def conversation() -> tuple[list[Event], list[Planted]]:
    """The same on every machine: 400 turns, and the facts among them."""
    events: list[Event] = []
    planted: list[Planted] = []
    random = Random(SEED)  # noqa: S311 - variety, not secrecy
    for number, subject in enumerate(SUBJECTS):
        for exchange, words in enumerate(_exchanges(subject, random)):
            user, assistant = words
            if exchange == EXCHANGES // 2:
                user = subject.fact
                planted.append(Planted(_name(len(events)), user, subject.question))
            elif exchange == 1 and number < len(RULES):
                user = RULES[number]
            events += [_turn(len(events), "user", user), _turn(len(events) + 1, "assistant", assistant)]
    return events, planted


def _exchanges(subject: Subject, random: Random) -> Iterator[tuple[str, str]]:
    things = subject.things.split()
    for exchange in range(EXCHANGES):
        filling = {"subject": subject.name, "thing": things[exchange % len(things)], "person": random.choice(PEOPLE)}
        yield random.choice(ASKS).format(**filling), random.choice(ANSWERS).format(**filling)


def _name(number: int) -> str:
    return f"turn-{number:03}"


def _turn(number: int, role: str, text: str) -> Event:
    ts = 1_750_000_000_000 + number * MINUTE_MS
    return Event(_name(number), KEY.tenant, KEY.user, KEY.session, role, text, ts, seq=number)
