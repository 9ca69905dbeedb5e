"""The conversation of the demo: a potter and her assistant over nine days, written for this project."""

from datetime import UTC, datetime, time, timedelta
from importlib.resources import files
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from lithify.client import Turn

FOLDER: Final = files(__package__)
USER: Final = "iris"
COMPACTED: Final = "studio"
ASKED_IN: Final = "week"
QUESTION: Final = "How hot do I fire the mugs with the blue glaze?"
BUDGET: Final = 600
# What changed, and what this memory has never heard of.
MORE_QUESTIONS: Final = ("When is the harbour market?", "What is the capital of Mongolia?")
LATER: Final = "later"


class ConversationLine(BaseModel):
    """One line of the file; `day` counts back from the day the demo runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    day: int
    time: time
    session: str
    role: Literal["user", "assistant"]
    text: str
    source_kind: str = "chat"


def shipped_turns(now: datetime) -> list[Turn]:
    """Reads the turns in the order they were said, seconds apart where the file gives the same minute."""
    content = (FOLDER / "conversation.jsonl").read_bytes()
    lines = [ConversationLine.model_validate_json(line) for line in content.splitlines()]
    return [make_turn(number, line, now) for number, line in enumerate(lines, 1)]


def make_turn(number: int, line: ConversationLine, now: datetime) -> Turn:
    day = (now - timedelta(days=line.day)).date()
    said = datetime.combine(day, line.time, UTC) + timedelta(seconds=number)
    return {
        "event_id": f"demo-{number:02}",
        "user": USER,
        "session": line.session,
        "role": line.role,
        "text": line.text,
        "ts": int(said.timestamp() * 1000),
        "source_kind": line.source_kind,
    }


def read_rules() -> str:
    return (FOLDER / "rules.md").read_text(encoding="utf-8")
