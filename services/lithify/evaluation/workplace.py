"""The folder of a run: the node's data, what is in it, and the answers so far."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from lithify.errors import Invalid
from lithify.evaluation.datasets import Dataset
from lithify.settings import Settings

FILE = "evaluation.json"


class WorkplaceContents(BaseModel):
    """Names the data a folder was made for; `ingest_seconds` is set once all of it is stored."""

    dataset: str
    file_sha256: str
    conversations: int
    ingest_seconds: float | None = None

    @classmethod
    def of(cls, dataset: Dataset) -> Self:
        return cls(dataset=dataset.name, file_sha256=dataset.sha256, conversations=len(dataset.conversations))


class Workplace:
    """The folder of a run, with the node's data and the answers so far."""

    def __init__(self, folder: Path, dataset: Dataset) -> None:
        """Raises Invalid if the folder was made for other data."""
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.contents = _contents(folder / FILE, WorkplaceContents.of(dataset))

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def is_ingested(self) -> bool:
        return self.contents.ingest_seconds is not None

    def journal(self, profile: str) -> Path:
        return self.folder / f"answers-{profile}.jsonl"

    def mark_ingested(self, seconds: float) -> None:
        self.contents = self.contents.model_copy(update={"ingest_seconds": seconds})
        _write(self.folder / FILE, self.contents)


def find_workplace(folder: Path, dataset: Dataset, settings: Settings) -> Workplace:
    """Returns the workplace of a data set below a folder of many: every model and precision has vectors of its own."""
    return Workplace(
        folder / dataset.sha256[:12] / f"{settings.embedding_profile}-{settings.embedding_variant}", dataset
    )


def _contents(path: Path, wanted: WorkplaceContents) -> WorkplaceContents:
    if not path.exists():
        _write(path, wanted)
        return wanted
    try:
        found = WorkplaceContents.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise Invalid(f"{path} is damaged; choose another --work folder") from error
    # The hash tells the data, whatever it is called.
    if found.model_copy(update={"ingest_seconds": None, "dataset": wanted.dataset}) != wanted:
        raise Invalid(
            f"{path.parent} holds other data ({found.dataset} {found.file_sha256[:12]}); choose another --work"
        )
    return found


def _write(path: Path, contents: WorkplaceContents) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(contents.model_dump_json(indent=2), encoding="utf-8")
    fresh.replace(path)
