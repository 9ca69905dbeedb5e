"""Collections of documents with questions and the documents that answer them: documents.jsonl and questions.jsonl."""

from pathlib import Path

from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, read_rows
from lithify.evaluation.datasets.prepared import QUESTIONS, UNSORTED

DOCUMENTS = "documents.jsonl"
READER = "reader"  # the one user to whom all documents are told


class DocumentRow(FileRow):
    id: str
    text: str
    title: str = ""


class DocumentQuestion(FileRow):
    qid: str
    question: str
    relevant: tuple[str, ...]


def has_documents(path: Path) -> bool:
    return (path / DOCUMENTS).exists()


def load_documents(name: str, folder: Path) -> Dataset:
    """Reads each document as a turn in a session of its own, for what is measured is the search of memory."""
    files = (folder / DOCUMENTS, folder / QUESTIONS)
    lines = [
        SourceTurn(id=row.id, session=row.id, speaker="user", text=f"{row.title}\n{row.text}".strip(), at=None)
        for row in read_rows(files[0], DocumentRow)
    ]
    asked = [
        SourceQuestion(id=row.qid, conversation=READER, text=row.question, category=UNSORTED, evidence=row.relevant)
        for row in read_rows(files[1], DocumentQuestion)
    ]
    return build_dataset(name, digest(files), {READER: lines}, asked)
