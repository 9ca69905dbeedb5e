"""User turns with a label each: whether a person would want them kept. Written for this project, in `gate*.jsonl`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import orjson

from lithify.errors import Invalid

# Conversations; and short plain facts beside requests for once and talk in the first person, which those have few of.
FILES: Final = ("gate.jsonl", "gate-plain.jsonl")


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """`keep` is the label, `score` a gating score that is known already; either may be missing."""

    text: str
    user: str
    kind: str
    keep: bool | None
    score: float | None


def shipped_turns(names: Sequence[str] = FILES) -> list[LabelledTurn]:
    sources = [files(__package__) / name for name in names]
    return [turn for source in sources for turn in _parse_turns(source.read_bytes(), source.name)]


def read_turns(path: Path) -> list[LabelledTurn]:
    """Reads JSON lines with `text`, and if known `user`, `kind`, `keep` and `score`. Raises Invalid without any."""
    try:
        turns = list(_parse_turns(path.read_bytes(), str(path)))
    except OSError as error:
        raise Invalid(f"cannot read {path}: {error}") from error
    if not turns:
        raise Invalid(f'no turns in {path}; expected lines like {{"text": "...", "keep": true}}')
    return turns


def _parse_turns(content: bytes, source: str) -> Iterator[LabelledTurn]:
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            try:
                yield _parse_turn(orjson.loads(line))
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise Invalid(f"{source}, line {number}: {error}") from error


def _parse_turn(raw: dict[str, Any]) -> LabelledTurn:
    text = raw["text"]
    keep = raw.get("keep")
    score = raw.get("score")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("text must be words")
    if not isinstance(keep, bool | None):
        raise TypeError("keep must be true or false")
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise TypeError("score must be a number")
    return LabelledTurn(text=text, user=str(raw.get("user", "")), kind=str(raw.get("kind", "")), keep=keep, score=score)
