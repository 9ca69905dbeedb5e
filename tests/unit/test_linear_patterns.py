"""No text makes a regular expression of the package slow: twice the text takes about twice the time, whatever it says.

Judged by how the time grows with the length and never by the time itself. Each pattern is run over texts that repeat
what its own expression is made of, and what patterns of all kinds stumble over, from every place of the text
(`finditer`), the most that any method does.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined] # the parser is not typed
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).parents[2]
GENERIC: Final = (
    *(
        "a",
        "A",
        "1",
        "-",
        ".",
        "/",
        " ",
        "\n",
        "\t",
        ",",
        ":",
        "'",
        '"',
        "(",
        "[",
        "<",
        "#",
        "`",
        "*",
        "_",
        "=",
        "|",
        "@",
    ),
    *("é", "一", "の", "ا", "a ", "a.", "a/", "1-", "1 ", "\n ", "ab ", "a, ", "'s ", "a:"),
)
ENDINGS: Final = ("", "!\x00")
MOST_OWN: Final = 16
MOST_JOINED: Final = 4
LENGTH: Final = 1024
# Of the texts that take a pattern longest so many are looked at: one that it stumbles over is among them.
SUSPECTS: Final = 4
# Below this a run says nothing about growth; what is tried from everywhere takes far longer at the greatest length.
MEASURABLE_S: Final = 0.001
DOUBLINGS: Final = 3
# Twice as long takes twice the time; for what is tried from everywhere, or cut in every way, four times and more.
MOST_GROWTH: Final = 2.83
TRIES: Final = 3


class Compiled(NamedTuple):
    pattern: re.Pattern[str]
    module: str


@pytest.fixture(scope="module")
def patterns() -> list[Compiled]:
    command = [sys.executable, "-m", "tests.unit.compiled_patterns"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return [Compiled(recompile(text, flags), module) for text, flags, module in found]


def recompile(text: str, flags: int) -> re.Pattern[str]:
    return re.compile(text, flags & ~re.UNICODE if flags & re.ASCII else flags)


def parts_of(kind: Any, value: Any) -> Iterator[Iterable[Any]]:
    """Yields the sequences inside a node."""
    match kind:
        case code.BRANCH:
            yield from value[1]
        case code.SUBPATTERN:
            yield value[3]
        case code.ASSERT | code.ASSERT_NOT:
            yield value[1]
        case code.MAX_REPEAT | code.MIN_REPEAT | code.POSSESSIVE_REPEAT:
            yield value[2]
        case code.ATOMIC_GROUP:
            yield value


def pieces_of(nodes: Iterable[Any]) -> Iterator[str]:
    """Yields what an expression is made of: runs of its letters, and a character of each of its sets."""
    run = ""
    for kind, value in nodes:
        if kind is code.LITERAL:
            run += chr(value)
            continue
        yield run
        run = ""
        if kind is code.IN:
            yield from (chr(one) for item, one in value if item is code.LITERAL)
            yield from (chr(one[0]) for item, one in value if item is code.RANGE)
        for part in parts_of(kind, value):
            yield from pieces_of(part)
    yield run


def atoms_of(pattern: re.Pattern[str]) -> list[str]:
    own = [piece for piece in dict.fromkeys(pieces_of(parser.parse(pattern.pattern, pattern.flags))) if piece]
    spread = own[:: -(-len(own) // MOST_OWN)] if own else []
    joined = [piece + other for piece in spread[:MOST_JOINED] for other in (" ", "a")]
    return list(dict.fromkeys((*GENERIC, *spread, *joined)))


def make_text(atom: str, ending: str, length: int) -> str:
    return (atom * -(-length // len(atom)))[:length] + ending


def measure(pattern: re.Pattern[str], text: str) -> float:
    """Returns the time of this thread alone, so that others on the machine hardly matter."""
    started = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - started


def find_growth(pattern: re.Pattern[str], atom: str, ending: str) -> float:
    """Returns by how much the time grows from a length to its double."""
    long = measure(pattern, make_text(atom, ending, LENGTH * 2**DOUBLINGS))
    if long < MEASURABLE_S:
        return 1.0
    short = max(measure(pattern, make_text(atom, ending, LENGTH)) for _ in range(3))
    return float((long / short) ** (1 / DOUBLINGS))


def find_slow(pattern: re.Pattern[str]) -> str | None:
    """Returns a text, by what it repeats, that makes the pattern slow; None if there is none."""
    attacks = product(atoms_of(pattern), ENDINGS)
    times = {attack: measure(pattern, make_text(*attack, LENGTH)) for attack in attacks}
    for atom, ending in sorted(times, key=lambda attack: -times[attack])[:SUSPECTS]:
        if all(find_growth(pattern, atom, ending) > MOST_GROWTH for _ in range(TRIES)):
            return f"{atom!r} repeated, then {ending!r}"
    return None


@pytest.mark.parametrize(
    "slow",
    [
        r"[\w.-]+(?:/[\w.-]+)+",
        r"\s+$",
        r"(?:a|b)*c",
        r"[A-Z]{2,}[a-z]{2,}",
        r"(\w+) server v=",
        r"<[^>]*>",
        r"^(?:.*/)?a[^/]*b|.*x",
        r"\s*(?P<fence>`{3,})",
    ],
)
def test_a_slow_pattern_is_found(slow: str) -> None:
    assert find_slow(re.compile(slow)) is not None


@pytest.mark.parametrize("quick", [r"(?<![\w.-])[\w.-]++(?:/[\w.-]++)++", r"\A\s*x", r"[a-z]+", r"(?:one|two|three)\b"])
def test_a_quick_pattern_passes(quick: str) -> None:
    assert find_slow(re.compile(quick)) is None


def test_every_pattern_of_the_package_is_looked_at(patterns: list[Compiled]) -> None:
    modules = {compiled.module for compiled in patterns}
    known = {
        *("lithify.docs.wording", "lithify.docs.folder.reading", "lithify.memory.languages.cue"),
        *("lithify.memory.languages.dates", "lithify.memory.guidance.grammar", "lithify.memory.updates.grammar"),
        *("lithify.memory.gating.patterns", "lithify.memory.ranking.owner", "lithify.cli.dlq"),
    }
    assert known <= modules
    assert len(patterns) > 1_000


def test_no_pattern_of_the_package_is_slow(patterns: list[Compiled]) -> None:
    found = [(compiled.module, compiled.pattern.pattern[:200], find_slow(compiled.pattern)) for compiled in patterns]
    assert [one for one in found if one[2]] == []
