"""The form the evaluation likes best: a folder with turns.jsonl and questions.jsonl, for any benchmark."""

from collections import defaultdict
from pathlib import Path

from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, read_date, read_rows

TURNS = "turns.jsonl"
QUESTIONS = "questions.jsonl"
UNSORTED = "all"  # the category of questions that have none


class TurnRow(FileRow):
    conv: str
    id: str
    session: str
    speaker: str
    text: str
    date: str | None = None
    caption: str | None = None


class QuestionRow(FileRow):
    conv: str
    qid: str
    question: str
    category_name: str | None = None
    category: str | None = None
    evidence: tuple[str, ...]


def is_prepared(path: Path) -> bool:
    return (path / TURNS).exists()


def load_prepared(name: str, folder: Path) -> Dataset:
    """Raises Invalid, with file and line, where something is malformed or missing."""
    files = (folder / TURNS, folder / QUESTIONS)
    lines: dict[str, list[SourceTurn]] = defaultdict(list)
    for row in read_rows(files[0], TurnRow):
        lines[row.conv].append(line_of(row))
    asked = [
        SourceQuestion(
            id=row.qid,
            conversation=row.conv,
            text=row.question,
            category=row.category_name or row.category or UNSORTED,
            evidence=row.evidence,
        )
        for row in read_rows(files[1], QuestionRow)
    ]
    return build_dataset(name, digest(files), lines, asked)


def line_of(row: TurnRow) -> SourceTurn:
    at = None if row.date is None else read_date(row.date)
    return SourceTurn(
        id=row.id, session=row.session, speaker=row.speaker, text=with_caption(row.text, row.caption), at=at
    )


def with_caption(text: str, caption: str | None) -> str:
    return f"{text} [photo: {caption}]" if caption else text
