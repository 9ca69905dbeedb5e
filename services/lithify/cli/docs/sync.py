"""Brings the documents of a folder into docs memory: asks once what is stored, then sends what differs."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lithify.batching import batched, batched_by_weight
from lithify.cli.api import Api
from lithify.cli.console import talk
from lithify.docs.folder.changes import FolderChanges, compare_folder
from lithify.docs.folder.git import changed_since, current_commit
from lithify.docs.folder.reading import Folder, SkippedFile
from lithify.errors import Invalid, Overloaded, Unavailable

# Small enough to be answered within seconds, large enough that round trips do not count.
BATCH_DOCUMENTS: Final = 64
BATCH_CHARACTERS: Final = 500_000
# A node that restarts is back within seconds; longer outages are for the operator to look at.
PATIENCE_SECONDS: Final = 120
PAUSE_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command was asked for."""

    repo: str
    folder: Folder
    since: str | None


@dataclass(slots=True)
class Totals:
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    version: str | None = None

    def count(self, results: Sequence[dict[str, Any]]) -> None:
        for result in results:
            if result["status"] == "invalid":
                self.refused.append(f"{result['path']}: {result['error']}")
            else:
                setattr(self, result["status"], getattr(self, result["status"]) + 1)


def sync_folder(api: Api, wanted: Wanted) -> Totals:
    """Safe to repeat, and to repeat after it was killed: what has arrived is not sent again."""
    stored = api.call("GET", f"{place(wanted.repo)}:digests")
    only = None if wanted.since is None else changed_since(wanted.folder.root, wanted.since)
    with progress() as bar:
        reading = bar.add_task("read", total=None)
        changes = compare_folder(wanted.folder, stored["documents"], only, lambda _: bar.advance(reading))
        refuse_emptying(wanted, changes, len(stored["documents"]))
        totals = Totals(
            unchanged=changes.unchanged, skipped=changes.skipped, version=current_commit(wanted.folder.root)
        )
        sending = bar.add_task("send", total=len(changes.changed) + len(changes.gone))
        texts = documents(wanted, changes.changed, totals)
        for put in batched_by_weight(texts, count_characters, BATCH_CHARACTERS, BATCH_DOCUMENTS):
            totals.count(send(api, wanted.repo, {"put": put}))
            bar.advance(sending, len(put))
        for gone in batched(changes.gone, BATCH_DOCUMENTS):
            totals.count(send(api, wanted.repo, {"remove": gone}))
            bar.advance(sending, len(gone))
    if totals.version is not None and totals.version != stored["version"]:
        send(api, wanted.repo, {"version": totals.version})
    return totals


def refuse_emptying(wanted: Wanted, changes: FolderChanges, stored: int) -> None:
    """A folder that is not mounted, or a pattern with a typing mistake, must not empty the library."""
    if changes.would_empty(stored):
        raise Invalid(
            f"{wanted.folder.root} holds none of the {stored} documents of {wanted.repo!r}; "
            f"check the folder and --include, or run `lithify docs remove {wanted.repo}`"
        )


def documents(wanted: Wanted, paths: Sequence[str], totals: Totals) -> Iterator[dict[str, Any]]:
    for path in paths:
        one = wanted.folder.read(path)
        if isinstance(one, SkippedFile):
            totals.skipped.append(one)
        else:
            yield {"path": path, "text": one.text, "kind": one.kind, "source_kind": one.source_kind}


def count_characters(document: Mapping[str, Any]) -> int:
    return len(document["text"])


def send(api: Api, repo: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Retries outages: writing a document twice is writing it once."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            results: list[dict[str, Any]] = api.call("POST", f"{place(repo)}:batch", body)["results"]
        except Overloaded as busy:
            time.sleep(busy.retry_after_s)
            deadline = time.monotonic() + PATIENCE_SECONDS
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return results


def place(repo: str) -> str:
    return f"/v1/docs/{quote(repo, safe='')}"


def progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=talk, disable=not talk.is_terminal)
