"""Brings the documents of a folder into docs memory: asks once what is stored, then sends what differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lithify.batching import batched, batched_by_weight
from lithify.cli.progress import StageBars
from lithify.cli.service import wait_out_load
from lithify.client import Memory
from lithify.client.call import path as api_path
from lithify.docs.folder.changes import FolderChanges, compare_folder
from lithify.docs.folder.git import changed_since, current_commit
from lithify.docs.folder.reading import Folder, SkippedFile
from lithify.errors import Invalid

# Small enough to be answered within seconds, large enough that round trips do not count.
BATCH_DOCUMENTS: Final = 64
BATCH_CHARACTERS: Final = 500_000


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A folder that is to be the documents of a repository; `since` narrows it to what differs from a revision."""

    repo: str
    folder: Folder
    since: str | None


@dataclass(slots=True)
class SyncTotals:
    """Counts documents by what became of them, and names those that were left out or refused."""

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


def sync_folder(service: Memory, wanted: SyncRequest) -> SyncTotals:
    """Sends what differs; safe to repeat, also after it was killed: what has arrived is not sent again."""
    stored = service.request_json("GET", f"{api_path('docs', wanted.repo)}:digests")
    only = None if wanted.since is None else changed_since(wanted.folder.root, wanted.since)
    with StageBars() as bar:
        reading = bar.add_task("read", total=None)
        changes = compare_folder(wanted.folder, stored["documents"], only, lambda _: bar.advance(reading))
        refuse_emptying(wanted, changes, len(stored["documents"]))
        totals = SyncTotals(
            unchanged=changes.unchanged, skipped=changes.skipped, version=current_commit(wanted.folder.root)
        )
        sending = bar.add_task("send", total=len(changes.changed) + len(changes.gone))
        texts = read_documents(wanted, changes.changed, totals)
        for put in batched_by_weight(texts, count_characters, BATCH_CHARACTERS, BATCH_DOCUMENTS):
            totals.count(send(service, wanted.repo, {"put": put}))
            bar.advance(sending, len(put))
        for gone in batched(changes.gone, BATCH_DOCUMENTS):
            totals.count(send(service, wanted.repo, {"remove": gone}))
            bar.advance(sending, len(gone))
    if totals.version is not None and totals.version != stored["version"]:
        send(service, wanted.repo, {"version": totals.version})
    return totals


def refuse_emptying(wanted: SyncRequest, changes: FolderChanges, stored: int) -> None:
    """A folder that is not mounted, or a pattern with a typing mistake, must not empty the library."""
    if changes.would_empty(stored):
        raise Invalid(
            f"{wanted.folder.root} holds none of the {stored} documents of {wanted.repo!r}; "
            f"check the folder and --include, or run `lithify docs remove {wanted.repo}`"
        )


def read_documents(wanted: SyncRequest, paths: Sequence[str], totals: SyncTotals) -> Iterator[dict[str, Any]]:
    for path in paths:
        one = wanted.folder.read(path)
        if isinstance(one, SkippedFile):
            totals.skipped.append(one)
        else:
            yield {"path": path, "text": one.text, "kind": one.kind, "source_kind": one.source_kind}


def count_characters(document: Mapping[str, Any]) -> int:
    return len(document["text"])


def send(service: Memory, repo: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Sends through outages and load: writing a document twice is writing it once."""
    answer = wait_out_load(lambda: service.request_json("POST", f"{api_path('docs', repo)}:batch", body))
    results: list[dict[str, Any]] = answer["results"]
    return results
