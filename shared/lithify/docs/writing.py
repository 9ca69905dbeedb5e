"""Decides what of a document has to be written; the holdings only carry it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lithify.docs.chunking import ChunkText, chunk_text
from lithify.docs.document import CHUNK_KIND, DOCUMENT_KIND, Chunk, RepoDocument
from lithify.docs.sources import DocName, DocSource, content_hash
from lithify.docs.space import Space
from lithify.docs.trust import trust_of
from lithify.docs.wording import chunk_vector, ts_hint
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.memory.vectors.tiers import MISSING_TIERS
from lithify.store import Record


@dataclass(frozen=True, slots=True)
class DocChange:
    """Says what a write did to a document's chunks, by their references."""

    path: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Says what of one document goes into the store."""

    document: RepoDocument
    change: DocChange
    known: bool  # stored and finished with the same digest: nothing is written
    chunks: Mapping[str, Chunk]  # all of them as they are to be, by reference
    written: tuple[Chunk, ...]  # to be written whole, with their words
    retrusted: tuple[Chunk, ...]  # only their trust is another


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """Holds what the store has of a document, finished or not; chunks by their references."""

    document: RepoDocument | None
    chunks: Mapping[str, Chunk]


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Says whose document it is, and the version and the time it is stored with."""

    tenant: str
    repo: str
    version: str | None
    now_ms: int


def plan_write(source: DocSource, stored: StoredDocument, target: WriteTarget) -> WritePlan:
    """Compares a file with what is stored; cuts the text unless that is the same, so it is work for an executor."""
    former = stored.document
    if former is not None and former.is_finished and former.digest == source.digest:
        unchanged = DocChange(source.path, unchanged=former.refs)
        return WritePlan(former, unchanged, known=True, chunks={}, written=(), retrusted=())
    document, chunks = make_document(source, former, target)
    before = stored.chunks
    change = DocChange(
        source.path,
        added=tuple(ref for ref in chunks if ref not in before),
        changed=tuple(ref for ref in chunks if ref in before and chunks[ref] != before[ref]),
        removed=tuple(ref for ref in before if ref not in chunks),
        unchanged=tuple(ref for ref in chunks if before.get(ref) == chunks[ref]),
    )
    retrusted = {ref for ref in change.changed if _differs_in_trust_only(chunks[ref], before[ref])}
    return WritePlan(
        document,
        change,
        known=False,
        chunks=chunks,
        written=tuple(chunks[ref] for ref in (*change.added, *change.changed) if ref not in retrusted),
        retrusted=tuple(chunks[ref] for ref in change.changed if ref in retrusted),
    )


def make_document(
    source: DocSource, former: RepoDocument | None, target: WriteTarget
) -> tuple[RepoDocument, dict[str, Chunk]]:
    """Makes the document and its chunks, by reference, as they are to be stored; a ruling about it still counts."""
    cut = chunk_text(source.path, source.text)
    ruling = former.ruling if former else None
    document = RepoDocument(
        tenant=target.tenant,
        repo=target.repo,
        path=source.path,
        title=cut.title,
        doc_kind=source.doc_kind,
        source_kind=source.source_kind,
        trust=trust_of(source.source_kind, source.doc_kind, source.content_hash, ruling),
        ts_hint=ts_hint(source.path, source.text),
        content_hash=source.content_hash,
        digest=source.digest,
        version=target.version,
        ts=target.now_ms,
        lines={one.chunk_id: one.lines for one in cut.chunks},
        ruling=ruling,
    )
    chunks = [_make_chunk(document, one) for one in cut.chunks]
    return document, {chunk.record_ref: chunk for chunk in chunks}


def _make_chunk(document: RepoDocument, piece: ChunkText) -> Chunk:
    return Chunk(
        tenant=document.tenant,
        repo=document.repo,
        path=document.path,
        chunk_id=piece.chunk_id,
        text=piece.text,
        title=document.title,
        heading_path=piece.heading_path,
        doc_kind=document.doc_kind,
        ts_hint=document.ts_hint,
        source_kind=document.source_kind,
        source_ref=document.name.source_ref,
        trust=document.trust,
        content_hash=content_hash(f"{piece.heading_path}\n{piece.text}"),
    )


def _differs_in_trust_only(fresh: Chunk, former: Chunk) -> bool:
    return fresh.trust != former.trust and replace(fresh, trust=former.trust) == former


def chunk_records(chunks: Sequence[Chunk], space: Space, analyser: LexicalAnalyser) -> list[Record]:
    """Makes records with their words at once, and marked for the job that embeds; work for an executor."""
    more = {MISSING_TIERS: list(space.missing), "embedding": space.fingerprint}
    return [
        Record(chunk_id_of(space, chunk), chunk.payload() | more, lexical=chunk_vector(chunk, analyser))
        for chunk in chunks
    ]


def chunk_id_of(space: Space, chunk: Chunk) -> str:
    return space.id_of(chunk.tenant, CHUNK_KIND, chunk.record_ref)


def document_record(document: RepoDocument, space: Space) -> Record:
    """Makes a record without vectors, so that no search finds it."""
    return Record(document_id(space, document.tenant, document.name), document.payload())


def document_id(space: Space, tenant: str, name: DocName) -> str:
    return space.id_of(tenant, DOCUMENT_KIND, name.doc_id)
