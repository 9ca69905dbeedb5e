"""No text makes reading slow: from one place of a text, a pattern can take a bounded number of ways only.

Seen in the patterns themselves: every repetition has a bound, or is a run of one kind of character that nothing around
it can cut otherwise; repetitions inside repetitions are kept apart by a character; and the lengths that all
repetitions of a pattern may have together are not too many.
"""

import re
from collections.abc import Iterator, Sequence
from re import _constants as code  # type: ignore[attr-defined] # the parser is not typed
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

import pytest

from lithify.memory import sentences
from lithify.memory.guidance import detector, topics
from lithify.memory.guidance.grammar import load_instructions
from lithify.memory.updates import claims, moments, segments, values
from lithify.memory.updates.grammar import load_grammar

Node = tuple[Any, Any]

SINGLE: Final = (code.LITERAL, code.NOT_LITERAL, code.IN, code.ANY)
REPEATS: Final = (code.MAX_REPEAT, code.MIN_REPEAT)
CATEGORIES: Final = {
    code.CATEGORY_SPACE: r"\s",
    code.CATEGORY_NOT_SPACE: r"\S",
    code.CATEGORY_DIGIT: r"\d",
    code.CATEGORY_NOT_DIGIT: r"\D",
    code.CATEGORY_WORD: r"\w",
    code.CATEGORY_NOT_WORD: r"\W",
}
# A sentence of 400 characters is cut into its parts in about this many ways at most, by a pattern with three gaps.
MOST_WAYS: Final = 10_000_000


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


def parse(pattern: re.Pattern[str]) -> list[Node]:
    return list(parser.parse(pattern.pattern, pattern.flags))


def parts_of(node: Node) -> list[Sequence[Node]]:
    """Returns the sequences inside a node, whichever of them is taken."""
    kind, value = node
    if kind is code.BRANCH:
        return list(value[1])
    if kind is code.SUBPATTERN:
        return [value[3]]
    if kind in (code.ASSERT, code.ASSERT_NOT):
        return [value[1]]
    return [value[2]] if kind in REPEATS else []


def takes(node: Node, letter: str) -> bool:
    """Says whether a node for one character may be this one."""
    kind, value = node
    if kind is code.ANY:
        return letter != "\n"
    if kind is code.LITERAL:
        return bool(letter == chr(value))
    if kind is code.NOT_LITERAL:
        return bool(letter != chr(value))
    if kind is code.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    if kind is code.CATEGORY:
        return re.match(CATEGORIES[value], letter) is not None
    inside = [item for item in value if item[0] is not code.NEGATE]
    return any(takes(item, letter) for item in inside) is (len(inside) == len(value))


def repeats_in(nodes: Sequence[Node]) -> Iterator[Node]:
    for node in nodes:
        if node[0] in REPEATS:
            yield node
        for part in parts_of(node):
            yield from repeats_in(part)


def is_fixed(repeat: Node) -> bool:
    low, high, _ = repeat[1]
    return bool(low == high) or high == 1


def is_apart(repeat: Node) -> bool:
    """Says whether each round of a repetition begins or ends in a character that no run inside it can swallow."""
    body = list(repeat[1][2])
    inner = [one for one in repeats_in(body) if not is_fixed(one)]
    if not inner:
        return True
    bodies = body[0][1][1] if body[0][0] is code.BRANCH else [body]
    edges = [[part[0], part[-1]] for part in bodies if list(part)]
    letters = [[chr(edge[1]) for edge in pair if edge[0] is code.LITERAL] for pair in edges]
    marks = [[edge for edge in pair if edge[0] is code.IN] for pair in edges]
    runs = [one[1][2][0] for one in inner]
    literal = all(any(not any(takes(run, one) for run in runs) for one in known) for known in letters if known)
    return literal and all(known or mark for known, mark in zip(letters, marks, strict=True))


def count_ways(nodes: Sequence[Node]) -> int:
    """Counts the lengths that the repetitions of a sequence may have together; its last one takes what is left.

    A look ahead is done once, so that it counts by itself.
    """
    ways = aside = 1
    for node in nodes:
        if node[0] in (code.ASSERT, code.ASSERT_NOT):
            aside = max(aside, count_ways(list(node[1][1])))
        elif node[0] in REPEATS and len(node[1][2]) == 1 and node[1][2][0][0] in SINGLE:
            low, high, _ = node[1]
            ways *= 1 if high == code.MAXREPEAT or node is nodes[-1] else high - low + 1
        elif parts := parts_of(node):
            ways *= max(count_ways(list(part)) for part in parts)
    return max(ways, aside)


def name_of(pattern: re.Pattern[str]) -> str:
    return pattern.pattern[:40]


def test_all_patterns_are_looked_at() -> None:
    assert len(every_pattern()) > 60


@pytest.mark.parametrize("pattern", every_pattern(), ids=name_of)
def test_a_pattern_takes_a_bounded_number_of_ways(pattern: re.Pattern[str]) -> None:
    nodes = parse(pattern)
    for repeat in repeats_in(nodes):
        low, high, body = repeat[1]
        assert high != code.MAXREPEAT or (len(body) == 1 and body[0][0] in SINGLE) or is_apart(repeat), (low, body)
        assert is_fixed(repeat) or is_apart(repeat), repeat
    assert count_ways(nodes) <= MOST_WAYS


@pytest.mark.parametrize(
    "source", ["(?:a{1,9}){1,9}", "(?:[ab]+)*", "(?: .{1,9}){0,9}", ".{9,90} .{9,900} .{9,900} .{9,90}"]
)
def test_a_pattern_that_could_be_slow_is_noticed(source: str) -> None:
    with pytest.raises(AssertionError):
        test_a_pattern_takes_a_bounded_number_of_ways(re.compile(source))
