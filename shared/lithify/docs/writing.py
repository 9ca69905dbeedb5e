"""Decides what of a document has to be written; the holdings only carry it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lithify.docs.chunk import Chunk
from lithify.docs.chunking import Piece, chunked
from lithify.docs.dating import ts_hint
from lithify.docs.document import Document
from lithify.docs.naming import DocName
from lithify.docs.sources import Source, content_hash
from lithify.docs.space import Space
from lithify.docs.trust import trust_of
from lithify.docs.wording import chunk_vector
from lithify.memory.lexical.analyser import LexicalAnalyser
from lithify.store import Record

MARKERS: Final = "missing_tiers"


@dataclass(frozen=True, slots=True)
class Change:
    """What a write did to a document's chunks, by their references."""

    path: str
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def has_changes(self) -> bool:
        return bool(self.added or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class Plan:
    """One document on its way into the store."""

    document: Document
    change: Change
    known: bool  # stored and finished with the same digest: nothing is written
    chunks: Mapping[str, Chunk]  # all of them as they are to be, by reference
    written: tuple[Chunk, ...]  # to be written whole, with their words
    framed: tuple[Chunk, ...]  # only their trust is another


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store has of a document, finished or not; chunks by their references."""

    document: Document | None
    chunks: Mapping[str, Chunk]


def plan(tenant: str, repo: str, source: Source, stored: Stored, version: str | None, now_ms: int) -> Plan:
    """Cuts the text, so it is work for an executor unless the stored document is the same."""
    former = stored.document
    if former is not None and former.is_finished and former.digest == source.digest:
        return Plan(former, Change(source.path, unchanged=former.refs), known=True, chunks={}, written=(), framed=())
    document, chunks = made(tenant, repo, source, former, version, now_ms)
    before = stored.chunks
    added = tuple(ref for ref in chunks if ref not in before)
    framed = tuple(ref for ref in chunks if ref in before and _is_only_framed(chunks[ref], before[ref]))
    changed = tuple(ref for ref in chunks if ref in before and chunks[ref] != before[ref])
    change = Change(
        source.path,
        added=added,
        changed=changed,
        removed=tuple(ref for ref in before if ref not in chunks),
        unchanged=tuple(ref for ref in chunks if before.get(ref) == chunks[ref]),
    )
    written = [ref for ref in (*added, *changed) if ref not in framed]
    return Plan(document, change, False, chunks, tuple(chunks[r] for r in written), tuple(chunks[r] for r in framed))


def made(
    tenant: str, repo: str, source: Source, former: Document | None, version: str | None, now_ms: int
) -> tuple[Document, dict[str, Chunk]]:
    """The document and its chunks as they are to be stored."""
    cut = chunked(source.path, source.text)
    ruling = former.ruling if former else None
    trust = trust_of(source.source_kind, source.doc_kind, source.content_hash, ruling)
    document = Document(
        tenant,
        repo,
        source.path,
        cut.title,
        source.doc_kind,
        source.source_kind,
        trust,
        ts_hint(source.path, source.text),
        source.content_hash,
        source.digest,
        version,
        now_ms,
        {piece.chunk_id: piece.lines for piece in cut.pieces},
        ruling,
    )
    chunks = [_chunk(document, piece) for piece in cut.pieces]
    return document, {chunk.record_ref: chunk for chunk in chunks}


def _chunk(document: Document, piece: Piece) -> Chunk:
    return Chunk(
        document.tenant,
        document.repo,
        document.path,
        piece.chunk_id,
        piece.text,
        document.title,
        piece.heading_path,
        document.doc_kind,
        document.ts_hint,
        document.source_kind,
        document.name.source_ref,
        document.trust,
        content_hash(f"{piece.heading_path}\n{piece.text}"),
    )


def _is_only_framed(fresh: Chunk, former: Chunk) -> bool:
    return fresh.trust != former.trust and replace(fresh, trust=former.trust) == former


def chunk_records(chunks: Sequence[Chunk], space: Space, analyser: LexicalAnalyser) -> list[Record]:
    """With their words at once, and marked for the job that embeds; work for an executor."""
    more = {MARKERS: list(space.missing), "embedding": space.fingerprint}
    return [
        Record(chunk_id_of(space, chunk), chunk.payload() | more, lexical=chunk_vector(chunk, analyser))
        for chunk in chunks
    ]


def chunk_id_of(space: Space, chunk: Chunk) -> str:
    return space.id_of(chunk.tenant, "chunk", chunk.record_ref)


def document_record(document: Document, space: Space) -> Record:
    """Without vectors, so that no search finds it."""
    return Record(document_id(space, document.tenant, document.name), document.payload())


def document_id(space: Space, tenant: str, name: DocName) -> str:
    return space.id_of(tenant, "document", name.doc_id)
