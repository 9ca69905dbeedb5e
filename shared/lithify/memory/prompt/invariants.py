"""Checks a finished assembly against the promises of spec 08 §8; runs in tests and under a debug setting.

Four of the fourteen need more than one plan to be seen: compaction staying outside the tail (7), untouched input
messages (half of 12), determinism (13), and degenerate inputs (9), of which the finiteness of every score is checked.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lithify.memory.prompt.budget import TOLERANCE
from lithify.memory.prompt.composition import Composition, Item
from lithify.memory.prompt.quotation import INDENT
from lithify.memory.prompt.rendering import RECALLED, TokenCounter
from lithify.memory.ranking.hops import Projected
from lithify.memory.ranking.profile import RESERVE_TOLERANCE, Profile
from lithify.memory.ranking.scoring import Scored
from lithify.memory.tokens import estimate_lines


@dataclass(frozen=True, slots=True)
class Evidence:
    """It holds what an assembly had to work with, and the text it produced."""

    tau: float
    profile: Profile
    hard: Sequence[Item]
    soft: Sequence[Item]
    base: Sequence[Item]
    scored: Sequence[Scored]
    projected: Sequence[Projected]
    text: str


def find_violations(
    evidence: Evidence, composition: Composition, count: TokenCounter = estimate_lines
) -> tuple[str, ...]:
    """Returns one sentence per broken invariant; none when all hold."""
    return (
        *_rules(evidence, composition),
        *_tail(evidence, composition),
        *_partition(evidence, composition),
        *_scores(evidence),
        *_hops(evidence),
        *_budget(evidence, composition, count),
        *_reserves(evidence.profile),
        *_framing(evidence, composition),
    )


def _rules(evidence: Evidence, composition: Composition) -> Iterator[str]:
    fixed = composition.fixed
    if _ids(fixed.hard) != _ids(evidence.hard):
        yield "1: a hard rule is missing, added or out of order"
    if _ids(fixed.soft) != _ids(evidence.soft)[: len(fixed.soft)]:
        yield "2: the admitted soft rules are not a prefix"


def _tail(evidence: Evidence, composition: Composition) -> Iterator[str]:
    tail = _ids(composition.fixed.tail)
    newest = _ids(evidence.base)[composition.fixed.missing_turns :]
    if tail[len(tail) - len(newest) :] != newest:
        yield "4: the tail does not end in the newest turns"


def _partition(evidence: Evidence, composition: Composition) -> Iterator[str]:
    rules = _ids(evidence.hard) + _ids(evidence.soft)
    tail = _ids(composition.fixed.tail)
    recalled = composition.guidance + composition.recalled
    if set(rules) & {*tail, *_ids(recalled)} or len(set(rules)) < len(rules):
        yield "3: a rule is in more than one tier"
    turns = {item.source_turn or item.id for item in composition.fixed.tail} | set(tail)
    if any(item.id in turns or item.source_turn in turns for item in recalled):
        yield "3: a turn of the tail is recalled as well"
    keys = [item.source_turn or item.id for item in recalled]
    if len(set(keys)) < len(keys):
        yield "12: a memory is injected twice"


def _scores(evidence: Evidence) -> Iterator[str]:
    sigmas = [item.sigma for item in evidence.projected]
    numbers = [number for row in evidence.scored for number in row[1:]]
    if not all(math.isfinite(number) for number in (*numbers, *sigmas)):
        yield "9: a component is not finite"
    if not all(0.0 <= score <= 1.0 for score in (*(row.score for row in evidence.scored), *sigmas)):
        yield "5: a score lies outside [0, 1]"
    if not all(1.0 - evidence.profile.delta <= row.quality <= 1.0 for row in evidence.scored):
        yield "10: a quality lies outside [1 - δ, 1]"


def _hops(evidence: Evidence) -> Iterator[str]:
    direct = {row.candidate.id for row in evidence.scored}
    if not all(direct.issuperset(item.parents) for item in evidence.projected):
        yield "8: a hop starts from a hop"


def _budget(evidence: Evidence, composition: Composition, count: TokenCounter) -> Iterator[str]:
    extras = composition.fixed.soft or composition.guidance or composition.recalled
    if composition.fixed.budgets.is_degraded and extras:
        yield "6: a degraded assembly injects more than hard rules and mandatory turns"
    tokens = count(evidence.text)
    if tokens > evidence.tau + TOLERANCE and composition.items != composition.fixed.hard:
        yield f"6: {tokens} tokens exceed the budget of {evidence.tau:g}"


def _reserves(profile: Profile) -> Iterator[str]:
    shares = [profile.hard_fraction or 0.0, profile.soft_fraction, profile.tail_fraction or 0.0]
    if min(shares) < 0.0 or sum(shares) > 1.0 + RESERVE_TOLERANCE:
        yield "11: the budget reserves do not fit into the budget"


def _framing(evidence: Evidence, composition: Composition) -> Iterator[str]:
    if evidence.text != composition.text:
        yield "14: the text is not that of its blocks"
    quoted = composition.fixed.tail + composition.guidance + composition.recalled
    if any(has_open_line(item.line.body) for item in quoted):
        yield "14: a quoted text begins a line of its own, or opens a tag"
    if composition.recalled and RECALLED.framing not in evidence.text:
        yield "14: recalled memory is not framed as untrusted"


def has_open_line(body: str) -> bool:
    """Says whether a quoted text could be taken for a frame: by a tag, or by a line that begins at the margin."""
    continued = body.splitlines()[1:]
    return "<" in body or ">" in body or not all(line.startswith(INDENT) for line in continued)


def _ids(items: Sequence[Item]) -> tuple[str, ...]:
    return tuple(item.id for item in items)
