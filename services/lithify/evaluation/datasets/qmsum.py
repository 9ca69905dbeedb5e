"""QMSum as its authors publish it: meetings with queries about spans of their turns, a file each or a line each."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, list_files, parse_row, read_json, read_json_lines

MEETING = "meeting"
GENERAL = "general"


class MeetingTurn(FileRow):
    speaker: str
    content: str


class GeneralQuery(FileRow):
    query: str


class SpecificQuery(FileRow):
    query: str
    relevant_text_span: tuple[tuple[int, int], ...] = ()  # first and last turn of each span


class Meeting(FileRow):
    meeting_transcripts: tuple[MeetingTurn, ...]
    specific_query_list: tuple[SpecificQuery, ...] = ()
    general_query_list: tuple[GeneralQuery, ...] = ()


def is_qmsum(value: Any) -> bool:
    return isinstance(value, dict) and "meeting_transcripts" in value


def load_qmsum(path: Path) -> Dataset:
    """`path` is a file or a folder of them; other files beside them are left alone."""
    files = [file for file in list_files(path, ".json", ".jsonl") if any(map(is_qmsum, read_meetings(file)))]
    if not files:
        raise Invalid(f"{path} holds no meeting (meeting_transcripts)")
    meetings = {name: meeting for file in files for name, meeting in parse_meetings(file)}
    lines = {name: list(spoken_lines(meeting)) for name, meeting in meetings.items()}
    asked = [question for name, meeting in meetings.items() for question in questions_of(name, meeting)]
    return build_dataset("qmsum", digest(files), lines, asked)


def read_meetings(file: Path) -> list[Any]:
    return read_json_lines(file) if file.suffix == ".jsonl" else [read_json(file)]


def parse_meetings(file: Path) -> Iterator[tuple[str, Meeting]]:
    """Yields meetings under the name of their file; several of one file are counted."""
    for number, value in enumerate(read_meetings(file), 1):
        name = file.stem if file.suffix == ".json" else f"{file.stem}-{number}"
        yield name, parse_row(Meeting, value, f"{file} meeting {number}")


def spoken_lines(meeting: Meeting) -> Iterator[SourceTurn]:
    for place, turn in enumerate(meeting.meeting_transcripts):
        yield SourceTurn(id=f"t{place}", session="1", speaker=turn.speaker, text=turn.content, at=None)


def questions_of(name: str, meeting: Meeting) -> Iterator[SourceQuestion]:
    """A query about the meeting as a whole has no evidence, and is counted as skipped."""
    spoken = {place for place, turn in enumerate(meeting.meeting_transcripts) if turn.content.strip()}
    for number, item in enumerate(meeting.specific_query_list):
        places = {place for first, last in item.relevant_text_span for place in range(first, last + 1)}
        evidence = [f"t{place}" for place in sorted(places & spoken)]
        yield SourceQuestion(
            id=f"{name}-q{number}", conversation=name, text=item.query, category=MEETING, evidence=evidence
        )
    for number, asked in enumerate(meeting.general_query_list):
        yield SourceQuestion(id=f"{name}-g{number}", conversation=name, text=asked.query, category=GENERAL, evidence=())
