"""LoCoMo as its authors publish it: one JSON list of ten long conversations of two friends."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, only_file, parse_row, read_date, read_list
from lithify.evaluation.datasets.prepared import with_caption

CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop", 5: "adversarial"}

_SESSION = re.compile(r"session_(\d+)")
# Some evidence of the release joins several turns ("D8:6; D9:17") or pads a number ("D30:05").
_TURN = re.compile(r"D:?(\d+):(\d+)")


class LocomoTurn(FileRow):
    dia_id: str
    speaker: str
    text: str
    blip_caption: str | None = None


class QuestionItem(FileRow):
    question: str
    category: int
    evidence: tuple[str, ...] = ()


class Sample(FileRow):
    sample_id: str
    conversation: dict[str, Any]
    qa: tuple[QuestionItem, ...] = Field(min_length=1)


def is_locomo(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and {"conversation", "qa"} <= set(value[0])
    )


def load_locomo(source: Path) -> Dataset:
    path = only_file(source, is_locomo)
    samples = read_list(path, Sample)
    lines = {sample.sample_id: list(spoken_lines(sample, path)) for sample in samples}
    if len(lines) < len(samples):
        raise Invalid(f"{path}: a sample_id is there twice")
    asked = [question for sample in samples for question in questions_of(sample)]
    return build_dataset("locomo", digest([path]), lines, asked)


def spoken_lines(sample: Sample, path: Path) -> Iterator[SourceTurn]:
    """Sessions in the order of their numbers; some of the release have a date but no turns."""
    for number in session_numbers(sample.conversation):
        session = f"session_{number}"
        where = f"{path} sample {sample.sample_id} {session}"
        date = sample.conversation.get(f"{session}_date_time")
        if not isinstance(date, str):
            raise Invalid(f"{where}: its date ({session}_date_time) is missing")
        for item in sample.conversation[session] or ():
            said = parse_row(LocomoTurn, item, where)
            text = with_caption(said.text, said.blip_caption)
            yield SourceTurn(id=said.dia_id, session=session, speaker=said.speaker, text=text, at=read_date(date))


def session_numbers(conversation: Iterable[str]) -> list[int]:
    return sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))


def questions_of(sample: Sample) -> Iterator[SourceQuestion]:
    for number, item in enumerate(sample.qa):
        category = CATEGORIES.get(item.category, str(item.category))
        evidence = [turn for text in item.evidence for turn in evidence_turns(text)]
        yield SourceQuestion(
            id=f"{sample.sample_id}-q{number}",
            conversation=sample.sample_id,
            text=item.question,
            category=category,
            evidence=evidence,
        )


def evidence_turns(text: str) -> list[str]:
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN.findall(text)]
