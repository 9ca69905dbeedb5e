"""The benchmarks by name: what their files are called, how they are recognised and how they are read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from lithify.errors import Invalid
from lithify.evaluation.datasets.beam import is_beam, load_beam
from lithify.evaluation.datasets.dataset import Dataset
from lithify.evaluation.datasets.documents import has_documents, load_documents
from lithify.evaluation.datasets.files import list_files, read_json, read_json_lines
from lithify.evaluation.datasets.locomo import is_locomo, load_locomo
from lithify.evaluation.datasets.longmemeval import is_longmemeval, load_longmemeval
from lithify.evaluation.datasets.memdaily import is_memdaily, load_memdaily
from lithify.evaluation.datasets.prepared import is_prepared, load_prepared
from lithify.evaluation.datasets.qmsum import is_qmsum, load_qmsum
from lithify.evaluation.datasets.realtalk import is_realtalk, load_realtalk


class BenchmarkName(StrEnum):
    LOCOMO = "locomo"
    BEAM = "beam"
    LONGMEMEVAL = "longmemeval"
    REALTALK = "realtalk"
    QMSUM = "qmsum"
    MEMDAILY = "memdaily"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark; `matches` is asked about the first value of a file that is no folder of chats."""

    about: str
    files: str
    load: Callable[[Path], Dataset]
    matches: Callable[[Any], bool]


def is_never(_: Any) -> bool:
    return False


BENCHMARKS: Final[dict[BenchmarkName, Benchmark]] = {
    BenchmarkName.LOCOMO: Benchmark(
        "Long talks of two friends: find the turns that answer a question.", "locomo10.json", load_locomo, is_locomo
    ),
    BenchmarkName.BEAM: Benchmark(
        "Long technical talks with an assistant: find the messages that answer a question.",
        "Folder of chats (each with chat.json)",
        load_beam,
        is_never,  # its files are known by their names
    ),
    BenchmarkName.LONGMEMEVAL: Benchmark(
        "A haystack of chats with an assistant for every question: find the sessions that answer it.",
        "longmemeval_s*.json or its like",
        load_longmemeval,
        is_longmemeval,
    ),
    BenchmarkName.REALTALK: Benchmark(
        "Three weeks of messages between two real people: find those that answer a question.",
        "Folder of Chat_*.json, or one of them",
        load_realtalk,
        is_realtalk,
    ),
    BenchmarkName.QMSUM: Benchmark(
        "Meetings of several people: find the stretch of turns that a question is about.",
        "A .jsonl or .json file of meetings, or a folder of them",
        load_qmsum,
        is_qmsum,
    ),
    BenchmarkName.MEMDAILY: Benchmark(
        "Short streams of everyday messages to an assistant (Chinese): find those that answer a question.",
        "memdaily.json",
        load_memdaily,
        is_memdaily,
    ),
}


def load_dataset(name: str | None, path: Path) -> Dataset:
    """Reads benchmark `name` from its official files or the prepared form. Raises Invalid where they are malformed.

    Without a name the benchmark is recognised by its content, and the data set is called like its folder.
    """
    if not path.exists():
        raise Invalid(f"there is nothing at {path}")
    own = name or name_of_path(path)
    if is_prepared(path):
        dataset = load_prepared(own, path)
    elif has_documents(path):
        dataset = load_documents(own, path)
    else:
        dataset = replace(BENCHMARKS[BenchmarkName(name) if name else recognise_or_refuse(path)].load(path), name=own)
    if not dataset.questions:
        raise Invalid(f"{path} has no question whose evidence is among its turns")
    return dataset


def name_of_path(path: Path) -> str:
    whole = path.resolve()
    return whole.name if whole.is_dir() else whole.stem


def recognise_or_refuse(path: Path) -> BenchmarkName:
    found = recognise(path)
    if found is None:
        raise Invalid(f"{path} is in no known form; docs/evaluation.md names them")
    return found


def recognise(path: Path) -> BenchmarkName | None:
    """Returns the benchmark whose official files these are."""
    if is_beam(path):
        return BenchmarkName.BEAM
    for file in list_files(path, ".json", ".jsonl"):
        value = read_first(file)
        for name, benchmark in BENCHMARKS.items():
            if benchmark.matches(value):
                return name
    return None


def read_first(file: Path) -> Any:
    """Returns what a file holds, or its first line; None for what is no JSON."""
    try:
        return read_json_lines(file, most=1)[0] if file.suffix == ".jsonl" else read_json(file)
    except (Invalid, IndexError):
        return None


def find_datasets(path: Path) -> list[Path]:
    """Returns the path itself if it is a data set, or else the folders and files in it that are.

    Raises Invalid if there are none.
    """
    if not path.exists():
        raise Invalid(f"there is nothing at {path}")
    if is_dataset(path):
        return [path]
    inside = sorted(part for part in path.iterdir() if part.is_dir() and is_dataset(part)) if path.is_dir() else []
    if not inside:
        raise Invalid(f"{path} is no data set of a known form and holds none; docs/evaluation.md names the forms")
    return inside


def is_dataset(path: Path) -> bool:
    return is_prepared(path) or has_documents(path) or recognise(path) is not None
