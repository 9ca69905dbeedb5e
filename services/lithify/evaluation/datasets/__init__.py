"""Conversations with questions, read from the files their authors publish."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from lithify.errors import Invalid
from lithify.evaluation.datasets.beam import load_beam
from lithify.evaluation.datasets.dataset import Conversation, Dataset, DatasetTurn, EvidenceQuestion
from lithify.evaluation.datasets.locomo import load_locomo
from lithify.evaluation.datasets.longmemeval import load_longmemeval
from lithify.evaluation.datasets.prepared import is_prepared, load_prepared

__all__ = ["Conversation", "Dataset", "DatasetTurn", "EvidenceQuestion", "load_dataset"]

OFFICIAL: Final[Mapping[str, Callable[[Path], Dataset]]] = {
    "locomo": load_locomo,
    "beam": load_beam,
    "longmemeval": load_longmemeval,
}


def load_dataset(name: str, path: Path) -> Dataset:
    """Reads benchmark `name` from its official files or the prepared form. Raises Invalid where they are malformed."""
    if not path.exists():
        raise Invalid(f"there is nothing at {path}")
    dataset = load_prepared(name, path) if is_prepared(path) else OFFICIAL[name](path)
    if not dataset.questions:
        raise Invalid(f"{path} has no question whose evidence is among its turns")
    return dataset
