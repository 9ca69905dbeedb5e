"""Turns of users: which of them are standing instructions. The first run on each file is in docs/gating.md."""

import json
from pathlib import Path
from typing import Final

import pytest

from lithify.memory.guidance import is_general_instruction, is_standing_instruction

FOLDER: Final = Path(__file__).parent / "guidance"
LEAST_PRECISION: Final = 0.95
# What was learnt of the wordings of a file must not be lost again.
LEAST_RECALL: Final = {"dev": 0.95, "test": 0.95, "unseen": 0.95, "blind-a": 0.85, "blind-b": 0.8, "hard": 0.9}
# Of turns that look like instructions and are none, nearly all of `hard.jsonl`.
MOST_FALSE_ALARMS: Final = 0.03


def read_turns(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", ["dev", "test", "unseen", "blind-a", "blind-b"])
def test_standing_instructions_are_told_from_the_rest(name: str) -> None:
    turns = read_turns(name)
    standing = {turn["id"] for turn in turns if turn["label"] == "standing"}
    found = {turn["id"] for turn in turns if is_standing_instruction(turn["text"])}
    assert len(found & standing) >= LEAST_PRECISION * len(found), found - standing
    assert len(found & standing) >= LEAST_RECALL[name] * len(standing), standing - found


def test_what_only_looks_like_an_instruction_is_left_alone() -> None:
    turns = read_turns("hard")
    others = [turn for turn in turns if turn["label"] == "other"]
    alarms = [turn["text"] for turn in others if is_standing_instruction(turn["text"])]
    assert len(alarms) <= MOST_FALSE_ALARMS * len(others), alarms
    standing = [turn["text"] for turn in turns if turn["label"] == "standing"]
    missed = [text for text in standing if not is_standing_instruction(text)]
    assert len(missed) <= (1 - LEAST_RECALL["hard"]) * len(standing), missed


@pytest.mark.parametrize(
    "text",
    [
        "From now on answer in German.",
        "please call me sam",
        "Always answer in English, even if I write in Polish.",
        "never apologise, just fix it",
        "Don't use emojis.",
        "My pronouns are they/them.",
        "From now on keep your answers short please",
    ],
)
def test_how_to_speak_bears_on_every_answer(text: str) -> None:
    assert is_general_instruction(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never deploy the staging database on a Friday.",
        "Whenever I ask for code, answer in TypeScript.",
        "Remember that I'm allergic to nuts.",
        "Use British spelling in all the mails you write to customers.",
        "Always answer questions about my medication with a warning.",
        "Answer in German.",
        "What is the capital of Mongolia?",
    ],
)
def test_what_names_an_occasion_or_a_matter_does_not(text: str) -> None:
    assert not is_general_instruction(text)
