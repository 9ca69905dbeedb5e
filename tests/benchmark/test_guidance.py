"""Turns of users: which of them are standing instructions. The first run on each file is in docs/gating.md."""

import json
from pathlib import Path
from typing import Final

import pytest

from lithify.memory.guidance import is_standing_instruction

FOLDER: Final = Path(__file__).parent / "guidance"
LEAST_PRECISION: Final = 0.95
LEAST_RECALL: Final = 0.95


@pytest.mark.parametrize("name", ["dev", "test", "unseen"])
def test_standing_instructions_are_told_from_the_rest(name: str) -> None:
    turns = [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]
    standing = {turn["id"] for turn in turns if turn["label"] == "standing"}
    found = {turn["id"] for turn in turns if is_standing_instruction(turn["text"])}
    assert len(found & standing) >= LEAST_PRECISION * len(found), found - standing
    assert len(found & standing) >= LEAST_RECALL * len(standing), standing - found
