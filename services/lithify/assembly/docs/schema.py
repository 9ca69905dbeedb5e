"""What is asked and answered about documents."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from lithify.assembly.schema import DeadlineMs, Now, QueryText
from lithify.docs.document import RepoDocument
from lithify.docs.holdings import LocatedChunk
from lithify.docs.query import DEFAULT_FUSION, MAX_LIMIT, MAX_MULTIPLIER, DocFusion, DocQuery, SearchMode
from lithify.docs.search import DocHit
from lithify.docs.sources import MAX_CHARS, MAX_PATH, MAX_REPO, DocKind, DocSource, SourceKind
from lithify.docs.space import RepoSummary
from lithify.docs.trust import Ruling, Trust
from lithify.docs.writing import DocChange
from lithify.events.turn import Identifier

MAX_BATCH = 512
MAX_REPOS = 64
MAX_DAYS = 36_500

Repo = Annotated[str, Field(pattern=r"^[\w.-]+$", max_length=MAX_REPO, description="The repository's name.")]
DocPath = Annotated[str, Field(min_length=1, max_length=MAX_PATH, description="Relative, with forward slashes.")]
DocText = Annotated[str, Field(max_length=MAX_CHARS)]
Version = Annotated[str, Field(min_length=1, max_length=256, description="Of the repository, such as a commit.")]


class DocInput(BaseModel):
    """One document as JSON; `text/markdown` and `text/plain` send the text as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: DocText
    kind: DocKind | None = Field(None, description="Decided by the path if unset.")
    source_kind: SourceKind = "operator"


class PathedDoc(DocInput):
    path: DocPath

    def source(self) -> DocSource:
        return DocSource(self.path, self.text, self.kind, self.source_kind)


class BatchInput(BaseModel):
    """Part of a sync: documents to write, paths to remove, and at its end the version that was synced."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    put: tuple[PathedDoc, ...] = Field((), max_length=MAX_BATCH)
    remove: tuple[DocPath, ...] = Field((), max_length=MAX_BATCH)
    version: Version | None = Field(None, description="Given with the last part: the sync ends here.")


class BatchItem(BaseModel):
    path: str
    status: Literal["added", "changed", "unchanged", "removed", "invalid"]
    chunks: int = Field(0, description="How many were written or removed.")
    error: str | None = None

    @classmethod
    def of(cls, change: DocChange) -> Self:
        written = len(change.added) + len(change.changed) + len(change.removed)
        if not written:
            return cls(path=change.path, status="unchanged")
        is_new = len(change.added) == written and not change.unchanged
        return cls(path=change.path, status="added" if is_new else "changed", chunks=written)


class BatchAnswer(BaseModel):
    results: list[BatchItem]


class Digests(BaseModel):
    repo: str
    version: str | None
    documents: dict[str, str] = Field(description="Digest by path; a document whose digest is equal needs no writing.")


class RepoView(BaseModel):
    repo: str
    version: str | None
    files: int
    chunks: int
    synced_at: int | None = Field(description="In ms.")

    @classmethod
    def of(cls, repo: RepoSummary) -> Self:
        return cls(
            repo=repo.repo,
            version=repo.version,
            files=repo.files,
            chunks=repo.chunks,
            synced_at=repo.synced_at,
        )


class Catalogue(BaseModel):
    repos: list[RepoView]
    unembedded: int = Field(description="Chunks that are found by their words only until their vectors are made.")


class ChunkView(BaseModel):
    ref: str = Field(description="doc:<repo>:<path>#<chunk_id>")
    heading_path: str
    lines: tuple[int, int] | None
    text: str

    @classmethod
    def of(cls, located: LocatedChunk) -> Self:
        chunk = located.chunk
        return cls(ref=chunk.record_ref, heading_path=chunk.heading_path, lines=located.lines, text=chunk.text)


class DocSummary(BaseModel):
    repo: str
    path: str
    title: str
    kind: str
    source_kind: str
    trust: str
    date: str | None = Field(description="Told by its front matter or its name.")
    version: str | None
    stored_at: int = Field(description="In ms.")

    @classmethod
    def of(cls, document: RepoDocument) -> Self:
        return cls(
            repo=document.repo,
            path=document.path,
            title=document.title,
            kind=document.doc_kind,
            source_kind=document.source_kind,
            trust=document.trust,
            date=document.ts_hint,
            version=document.version,
            stored_at=document.ts,
        )


class DocView(DocSummary):
    chunks: list[ChunkView] = []


class DocWritten(BatchItem):
    repo: str


class Removed(BaseModel):
    repo: str
    removed: int = Field(description="How many documents.")


class DocSearchRequest(BaseModel):
    """A question to the documents of the tenant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    query: QueryText = Field(description="Any text; none of it is syntax.")
    repos: tuple[Repo, ...] = Field((), max_length=MAX_REPOS, description="None means all.")
    kinds: tuple[DocKind, ...] = Field((), max_length=16, description="None means all.")
    limit: int = Field(6, ge=1, le=MAX_LIMIT)
    mode: SearchMode = "fused"
    fusion: DocFusion = Field(
        DEFAULT_FUSION, description="By what the question is made of, by ranks, or by weighted scores."
    )
    vector_weight: float = Field(0.7, ge=0, le=1, description="Of meaning in the weighted fusion; words have the rest.")
    multiplier: int = Field(4, ge=1, le=MAX_MULTIPLIER, description="Candidates each list is asked for, times `limit`.")
    decay: bool = Field(False, description="Whether dated documents lose weight with age.")
    half_life_days: float = Field(30.0, gt=0, le=MAX_DAYS)
    mmr: bool = Field(False, description="Whether variety is wanted.")
    relevance_share: float = Field(0.7, ge=0, le=1, description="λ: 1 is relevance alone, 0 variety alone.")
    threshold: float | None = Field(None, ge=-1, le=1, description="Ends the picking of varied hits below this value.")
    now: Now = None
    deadline_ms: DeadlineMs = None

    def question(self) -> DocQuery:
        return DocQuery(
            text=self.query,
            repos=self.repos,
            kinds=self.kinds,
            limit=self.limit,
            mode=self.mode,
            fusion=self.fusion,
            weights=(self.vector_weight, 1.0 - self.vector_weight),
            multiplier=self.multiplier,
            decay=self.decay,
            half_life_days=self.half_life_days,
            mmr=self.mmr,
            lambda_=self.relevance_share,
            threshold=self.threshold,
        )


class DocHitView(BaseModel):
    ref: str
    repo: str
    path: str
    title: str
    heading_path: str
    lines: tuple[int, int] | None = Field(description="First and last line of the file.")
    kind: str
    date: str | None
    trust: str
    source_kind: str
    source_ref: str
    score: float
    components: dict[str, float | int | None]
    text: str

    @classmethod
    def of(cls, hit: DocHit) -> Self:
        chunk, scored = hit.chunk, hit.scored
        return cls(
            ref=chunk.record_ref,
            repo=chunk.repo,
            path=chunk.path,
            title=chunk.title,
            heading_path=chunk.heading_path,
            lines=hit.lines,
            kind=chunk.doc_kind,
            date=chunk.ts_hint,
            trust=chunk.trust,
            source_kind=chunk.source_kind,
            source_ref=chunk.source_ref,
            score=scored.score,
            components={
                "fused": scored.fused,
                "lexical": scored.lexical,
                "vector": scored.vector,
                "lexical_rank": scored.lexical_rank,
                "vector_rank": scored.vector_rank,
                "decay": scored.decay,
                "diversity": hit.diversity,
            },
            text=chunk.text,
        )


class DocSearchResponse(BaseModel):
    hits: list[DocHitView]
    degraded: list[str] = Field(description="Which list is absent and why; empty when all was well.")
    trace_id: str


class ReplayView(BaseModel):
    same: bool = Field(description="Whether the same chunks came with the same scores.")
    corpus_same: bool = Field(description="Whether no document was written in between.")
    differences: list[str]


class PromotionInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    trust: Trust = "trusted"
    by: Identifier = Field(description="Who decides; kept with the id of the API key.")
    why: Identifier = Field(description="The reason, kept for good.")


class RulingView(BaseModel):
    repo: str
    path: str
    before: str
    after: str
    by: str
    why: str
    at: int = Field(description="In ms.")

    @classmethod
    def of(cls, ruling: Ruling) -> Self:
        return cls(
            repo=ruling.repo,
            path=ruling.path,
            before=ruling.before,
            after=ruling.after,
            by=ruling.by,
            why=ruling.why,
            at=ruling.at,
        )


class Rulings(BaseModel):
    rulings: list[RulingView] = Field(description="Newest first.")


class LaneView(BaseModel):
    last: dict[str, Any] | None = Field(description="The receipt of the latest refresh and benchmark.")
    history: list[dict[str, Any]] = Field(description="Of the runs before it, newest first, without their details.")
    notices: list[dict[str, Any]] = Field(description="When something had become worse, newest first.")
