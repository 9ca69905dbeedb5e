"""No text makes reading slow: twice the text takes about twice the time, whatever it is made of."""

import re
import time
from collections.abc import Iterator
from typing import Final

import pytest

from lithify.memory import sentences
from lithify.memory.guidance import detector, topics
from lithify.memory.guidance.grammar import load_instructions
from lithify.memory.updates import claims, moments, segments, values
from lithify.memory.updates.grammar import load_grammar

SEEDS: Final = (
    *(
        "a",
        " ",
        "a ",
        "1",
        "1,",
        "'",
        '"',
        "`",
        "```a`",
        "(",
        ": ",
        "- ",
        "\n>",
        "my a ",
        "the the ",
        "i have a ",
        "from a ",
    ),
    *("always ", "never use ", "if i ask ", "from now on, ", "you should ", "says: ", "no a ", "keep your answers "),
    *("we moved from a ", "a b c d e f g h is ", "changed the a from b ", "in the future ", "please ", "don't use a "),
)
SHORT: Final = 4_000
# Quadratic patterns take 64 times as long for eight times the text, and the machine may be busy.
FACTOR: Final = 8
MOST: Final = 30.0
LEAST_SECONDS: Final = 0.02


def patterns_in(thing: object, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(thing, re.Pattern):
        yield thing
    elif depth and isinstance(thing, tuple | list):
        for part in thing:
            yield from patterns_in(part, depth - 1)
    elif depth and hasattr(thing, "__dataclass_fields__"):
        for name in thing.__dataclass_fields__:
            yield from patterns_in(getattr(thing, name), depth - 1)


def every_pattern() -> list[re.Pattern[str]]:
    modules = (sentences, detector, topics, claims, moments, segments, values)
    listed = [value for module in modules for value in vars(module).values()]
    found = [*patterns_in(listed), *patterns_in(load_grammar("en")), *patterns_in(load_instructions("en"))]
    return list({pattern.pattern: pattern for pattern in found}.values())


def seconds(pattern: re.Pattern[str], text: str) -> float:
    started = time.process_time()
    for _ in pattern.finditer(text):
        pass
    pattern.fullmatch(text)
    return time.process_time() - started


@pytest.mark.parametrize("seed", SEEDS)
def test_patterns_take_time_in_proportion_to_the_text(seed: str) -> None:
    patterns = every_pattern()
    assert len(patterns) > 60
    for pattern in patterns:
        text = (seed * SHORT)[:SHORT]
        short = min(seconds(pattern, text) for _ in range(2))
        long = seconds(pattern, text * FACTOR)
        assert long <= max(MOST * short, LEAST_SECONDS), (pattern.pattern[:80], short, long)
